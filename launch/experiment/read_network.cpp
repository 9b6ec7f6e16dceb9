// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/read_network.h"

#include <algorithm>
#include <string>

namespace starling {
namespace {

constexpr const char* kNetworkKeys = "delay_us, jitter, loss, duplication, reorder";

/// Those of the network's figures that `map` gives.
NetworkModel read_figures(const YamlMap& map, NetworkModel model) {
  if (map.has("delay_us")) model.delay = from_seconds(map.number("delay_us", 0, 1e9, 0.0) * 1e-6);
  model.jitter = map.number("jitter", 0, 1, model.jitter);
  model.loss = map.number("loss", 0, 0.9, model.loss);
  model.duplication = map.number("duplication", 0, 0.9, model.duplication);
  model.reorder = map.number("reorder", 0, 0.9, model.reorder);
  return model;
}

}  // namespace

NetworkModel read_network(Diagnostics& diagnostics, const YamlMap& map, PhysicsKind physics) {
  if (!map.has("network"))
    return physics == PhysicsKind::full ? NetworkModel::lan() : NetworkModel::ideal();
  const YAML::Node node = map.get("network");
  if (node.IsScalar() && node.Scalar() == "ideal") return NetworkModel::ideal();
  if (node.IsScalar() && node.Scalar() == "lan") return NetworkModel::lan();
  if (node.IsScalar()) {
    diagnostics.add(place_of(node), "network is '" + node.Scalar().substr(0, 60) +
                                        "'; write ideal, lan, or a mapping with " + kNetworkKeys);
    return {};
  }
  const YamlMap model(diagnostics, node, "network",
                      {"delay_us", "jitter", "loss", "duplication", "reorder"});
  return read_figures(model, NetworkModel{});
}

std::vector<FaultsChoice> read_faults(Diagnostics& diagnostics, const YamlMap& map,
                                      const NetworkModel& network) {
  if (!map.has("faults")) return {{"", network}};
  const YAML::Node node = map.get("faults");
  std::vector<YAML::Node> entries{node};
  if (node.IsSequence()) entries = {node.begin(), node.end()};
  if (entries.empty())
    diagnostics.add(place_of(node), "faults is an empty list; write none, or leave it out");
  std::vector<FaultsChoice> out;
  for (const YAML::Node& entry : entries) {
    FaultsChoice choice{"", network};
    if (entry.IsMap()) {
      const YamlMap faults(diagnostics, entry, "an entry of faults",
                           {"name", "delay_us", "jitter", "loss", "duplication", "reorder"});
      choice.name = faults.name("name", "faults " + std::to_string(out.size() + 1));
      choice.network = read_figures(faults, network);
    } else if (!entry.IsScalar() || entry.Scalar() != "none") {
      diagnostics.add(place_of(entry), "faults has '" + scalar_text(entry).substr(0, 60) +
                                           "'; write none, or a mapping with name and any of " +
                                           kNetworkKeys);
    }
    const bool known = std::any_of(out.begin(), out.end(), [&](const FaultsChoice& other) {
      return other.name == choice.name;
    });
    if (known) {
      diagnostics.add(place_of(entry), "two faults are called '" +
                                           (choice.name.empty() ? "none" : choice.name) +
                                           "'; give each a name: of its own");
    }
    out.push_back(std::move(choice));
  }
  return out;
}

}  // namespace starling
