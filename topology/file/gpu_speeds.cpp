// SPDX-License-Identifier: Apache-2.0
#include "topology/file/gpu_speeds.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/short_number.h"
#include "topology/reading/yaml_reader.h"

namespace starling {
namespace {

constexpr const char* kRight =
    "write gpu_speeds: {SERVER: [1, 0.97, ...]}, one for each of its GPUs";

std::string number(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};  // shortest that reads back equal
}

// Nothing after a mistake.
std::vector<double> read_list(const YAML::Node& node, const std::string& server,
                              Diagnostics& diagnostics) {
  if (!node.IsSequence()) {
    diagnostics.add(place_of(node), "gpu_speeds of '" + server + "' are no list; " + kRight);
    return {};
  }
  std::vector<double> speeds;
  for (const YAML::Node& item : node) {
    const double speed = item.IsScalar() ? item.as<double>(-1) : -1;
    if (speed >= Server::kSlowestGpu && speed <= 1) {
      speeds.push_back(speed);
      continue;
    }
    diagnostics.add(place_of(item), "a GPU speed of '" + server + "' is " + scalar_text(item) +
                                        "; write a number from " +
                                        short_number(Server::kSlowestGpu) +
                                        " to 1, in units of the fastest GPU of its type");
    return {};
  }
  return speeds;
}

}  // namespace

std::vector<TopologySpec::GpuSpeeds> read_gpu_speeds(const YAML::Node& node,
                                                     Diagnostics& diagnostics) {
  std::vector<TopologySpec::GpuSpeeds> all;
  if (!node.IsMap()) {
    diagnostics.add(place_of(node), std::string("gpu_speeds are no mapping; ") + kRight);
    return all;
  }
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const auto name = read_name(diagnostics, entry.first, "a server in gpu_speeds");
    if (!name) continue;
    if (!seen.insert(*name).second) {
      diagnostics.add(place_of(entry.first),
                      "'" + *name + "' is given twice in gpu_speeds; keep one of them");
      continue;
    }
    std::vector<double> speeds = read_list(entry.second, *name, diagnostics);
    if (entry.second.IsSequence() && entry.second.size() == 0) {
      diagnostics.add(place_of(entry.first),
                      "gpu_speeds of '" + *name + "' are none; write one for each of its GPUs");
    }
    if (!speeds.empty()) all.push_back({*name, std::move(speeds), place_of(entry.first)});
  }
  return all;
}

void set_gpu_speeds(const std::vector<TopologySpec::GpuSpeeds>& all, std::vector<Server>& servers,
                    Diagnostics& diagnostics) {
  if (all.empty()) return;
  std::map<std::string, std::size_t> index;
  for (std::size_t s = 0; s < servers.size(); ++s) index.emplace(servers[s].name, s);
  for (const TopologySpec::GpuSpeeds& each : all) {
    const auto at = index.find(each.server);
    if (at == index.end()) {
      std::vector<std::string> names;
      names.reserve(servers.size());
      for (const Server& server : servers) names.push_back(server.name);
      diagnostics.add(each.place, "gpu_speeds name '" + each.server + "', which is no server" +
                                      suggestion(each.server, names));
      continue;
    }
    Server& server = servers[at->second];
    if (each.speeds.size() != server.gpus.size()) {
      diagnostics.add(each.place, "gpu_speeds of '" + each.server + "' are " +
                                      std::to_string(each.speeds.size()) + ", the server has " +
                                      counted(server.gpus.size(), "GPU") +
                                      "; write one for each of them");
      continue;
    }
    const bool all_alike = std::ranges::all_of(each.speeds, [](double x) { return x == 1; });
    if (!all_alike) server.gpu_speeds = each.speeds;
  }
}

std::string gpu_speeds_yaml(const std::vector<Server>& servers,
                            std::string (*quoted)(const std::string&)) {
  std::string out;
  for (const Server& server : servers) {
    if (server.gpu_speeds.empty()) continue;
    out += (out.empty() ? "gpu_speeds:\n  " : "  ") + quoted(server.name) + ": [";
    for (std::size_t i = 0; i < server.gpu_speeds.size(); ++i) {
      if (i > 0) out += i % 12 == 0 ? ",\n    " : ", ";
      out += number(server.gpu_speeds[i]);
    }
    out += "]\n";
  }
  return out;
}

}  // namespace starling
