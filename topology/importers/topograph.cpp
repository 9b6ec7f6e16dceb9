// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/topograph.h"

#include <yaml-cpp/yaml.h>

#include <map>

#include "topology/importers/host_list.h"
#include "topology/importers/switch_tree.h"
#include "topology/reading/yaml_reader.h"

namespace starling {
namespace {

void read_switches(const YAML::Node& switches, SwitchTree& tree, Diagnostics& diagnostics) {
  for (const auto& entry : switches) {
    const auto name = read_name(diagnostics, entry.first, "a switch");
    if (!name) continue;
    SwitchTree::Switch made{*name, {}, {}, place_of(entry.first)};
    const YAML::Node children = child_of(entry.second, "switches");
    for (const YAML::Node& child : children) {
      made.children.push_back(read_name(diagnostics, child, "a switch").value_or("?"));
    }
    tree.switches.push_back(std::move(made));
  }
}

// The NVLink domain of a block's nodes: accelerator.SITE/domain, or SITE/accelerator as topograph
// labels nodes of Kubernetes; empty: none.
std::string accelerator_of(const YamlMap& block) {
  for (const char* key : {"annotations", "labels"}) {
    const YAML::Node all = block.has(key) ? block.get(key) : YAML::Node();
    if (!all.IsMap()) continue;
    for (const auto& entry : all) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar()) continue;
      const std::string& name = entry.first.Scalar();
      if (name.ends_with("/accelerator") ||
          (name.starts_with("accelerator.") && name.ends_with("/domain")))
        return entry.second.Scalar();
    }
  }
  return {};
}

void read_blocks(const std::vector<YAML::Node>& blocks, SwitchTree& tree,
                 Diagnostics& diagnostics) {
  std::map<std::string, std::size_t> leaves;
  for (const YAML::Node& node : blocks) {
    const YamlMap map(diagnostics, node, "a block",
                      {"switch", "nodes", "annotations", "labels", "name", "type"});
    const std::string name = map.name("switch", std::nullopt);
    const auto [at, fresh] = leaves.emplace(name, tree.switches.size());
    if (fresh) tree.switches.push_back({name, {}, {}, map.place()});
    const std::string domain = accelerator_of(map);
    for (const YAML::Node& nodes : map.list("nodes", true)) {
      const std::string text = nodes.IsScalar() ? nodes.Scalar() : "";
      const auto names = expand_hosts(text);
      if (!names.ok()) {
        diagnostics.add(place_of(nodes), names.error().message);
        continue;
      }
      for (const std::string& each : names.value()) {
        if (!domain.empty()) tree.domains.emplace(each, domain);
      }
      auto& all = tree.switches[at->second].nodes;
      all.insert(all.end(), names.value().begin(), names.value().end());
    }
  }
}

}  // namespace

bool is_topograph_yaml(std::string_view text) noexcept {
  const auto line_begins = [text](std::string_view word) {
    const std::size_t at = text.find(word);
    return at != std::string_view::npos &&
           (at == 0 || text.find("\n" + std::string(word)) != std::string_view::npos);
  };
  return line_begins("blocks:") && line_begins("switches:");
}

Result<Topology> import_topograph(const std::string& text, const std::string& file_name) {
  Diagnostics diagnostics(file_name);
  SwitchTree tree;
  try {
    const YAML::Node root = YAML::Load(text);
    const YamlMap top(diagnostics, root, "the topology", {"switches", "blocks", "nodes", "config"});
    if (top.has("switches") && top.get("switches").IsMap()) {
      read_switches(top.get("switches"), tree, diagnostics);
    }
    read_blocks(top.list("blocks", true), tree, diagnostics);
  } catch (const YAML::Exception& e) {
    diagnostics.add({e.mark.line + 1, e.mark.column + 1}, "not valid YAML: " + e.msg);
  }
  return build_switch_tree(tree, file_name, diagnostics);
}

}  // namespace starling
