// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/read_generator.h"

#include <algorithm>
#include <map>

#include "topology/generate/server_templates.h"

namespace starling {
namespace {

constexpr std::uint32_t kMost = 1U << 20U;
constexpr double kFast = 1e6;  // Gbit/s

/// What only some kinds read.
const std::map<std::string, std::vector<std::string>>& keys_of_kinds() {
  static const std::map<std::string, std::vector<std::string>> keys{
      {"servers_per_rack", {"leaf-spine", "vl2", "rail-optimised", "torus-pods"}},
      {"spines", {"leaf-spine", "rail-optimised", "nvl72", "torus-pods"}},
      {"uplink_gbps",
       {"leaf-spine", "fat-tree", "vl2", "dragonfly", "rail-optimised", "nvl72", "torus-pods"}},
      {"fat_tree_k", {"fat-tree"}},
      {"vl2_aggregation_ports", {"vl2"}},
      {"vl2_intermediate_ports", {"vl2"}},
      {"bcube_ports", {"bcube"}},
      {"bcube_levels", {"bcube"}},
      {"dragonfly_hosts", {"dragonfly"}},
      {"dragonfly_routers", {"dragonfly"}},
      {"dragonfly_global", {"dragonfly"}},
      {"rails", {"rail-optimised"}},
      {"racks_per_unit", {"rail-optimised"}},
      {"racks", {"nvl72"}},
      {"racks_per_pod", {"torus-pods"}},
      {"scale_up_gbps", {"nvl72", "torus-pods"}}};
  return keys;
}

const std::vector<std::string>& keys_of_servers() {
  static const std::vector<std::string> keys{"gpu_type",    "gpus_per_server", "gpus_per_island",
                                             "cpus",        "memory_gib",      "nic_gbps",
                                             "nvlink_gbps", "pcie_gbps"};
  return keys;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const ServerTemplate& known : known_server_templates()) names.push_back(known.name);
  return names;
}

void check_keys(Diagnostics& diagnostics, const YamlMap& map, const std::string& kind) {
  for (const auto& [key, kinds] : keys_of_kinds()) {
    if (!map.has(key.c_str()) || std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
      continue;
    diagnostics.add(map.place(key.c_str()), "'" + key + "' means nothing to " + kind +
                                                ", only to " + joined(kinds) + "; leave it out");
  }
  if (kind == "nvl72") {
    std::vector<std::string> keys = keys_of_servers();
    keys.insert(keys.end(), {"servers", "server_template"});
    for (const std::string& key : keys) {
      if (map.has(key.c_str()))
        diagnostics.add(map.place(key.c_str()),
                        "'" + key + "' is known of an nvl72; leave it out, or write its racks");
    }
    return;
  }
  if (!map.has("server_template")) return;
  for (const std::string& key : keys_of_servers()) {
    if (map.has(key.c_str()))
      diagnostics.add(map.place(key.c_str()),
                      "'" + key + "' is given by server_template; leave one of them out");
  }
}

void read_servers(Diagnostics& diagnostics, const YamlMap& map, GeneratorOptions& o) {
  o.server_template = map.name("server_template", "");
  if (map.has("server_template")) {
    if (const auto known = known_server_template(o.server_template)) {
      o.gpu_type = known->gpu_type;
    } else {
      diagnostics.add(map.place("server_template"),
                      "unknown server template '" + o.server_template + "'" +
                          suggestion(o.server_template, template_names()));
    }
  }
  o.gpu_type = map.name("gpu_type", o.gpu_type);
  if (map.has("servers")) {
    auto groups = parse_server_groups(map.name("servers", ""), o.gpu_type);
    if (groups) {
      o.groups = std::move(groups).value();
    } else {
      diagnostics.add(map.place("servers"), "servers: " + groups.error().message);
    }
  }
  o.gpus_per_server = map.whole("gpus_per_server", 1, 256, o.gpus_per_server);
  o.gpus_per_island = map.whole("gpus_per_island", 1, 256, o.gpus_per_island);
  o.cpus = map.number("cpus", 0, 1e6, o.cpus);
  o.memory_gib = map.number("memory_gib", 0, 1e9, o.memory_gib);
  o.nic_gbps = map.number("nic_gbps", 0.001, kFast, o.nic_gbps);
  o.nvlink_gbps = map.number("nvlink_gbps", 0.001, kFast, o.nvlink_gbps);
  o.pcie_gbps = map.number("pcie_gbps", 0.001, kFast, o.pcie_gbps);
}

}  // namespace

std::vector<std::string> generator_keys() {
  std::vector<std::string> keys{"servers", "server_template", "link_latency_us"};
  keys.insert(keys.end(), keys_of_servers().begin(), keys_of_servers().end());
  for (const auto& [key, kinds] : keys_of_kinds()) keys.push_back(key);
  return keys;
}

GeneratorOptions read_generator(Diagnostics& diagnostics, const YamlMap& map,
                                const std::string& kind) {
  const std::vector<std::string> kinds = {"flat",      "leaf-spine", "fat-tree",       "vl2",
                                          "bcube",     "dragonfly",  "rail-optimised", "nvl72",
                                          "torus-pods"};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    diagnostics.add(map.place("generate"), "no generator '" + kind + "'" + suggestion(kind, kinds));
  } else {
    check_keys(diagnostics, map, kind);
  }
  GeneratorOptions o;
  o.fat_tree_k = map.whole("fat_tree_k", 2, 256, 0U);
  o.servers = o.fat_tree_k > 0 ? 0 : o.servers;
  read_servers(diagnostics, map, o);
  o.link_latency_us = map.number("link_latency_us", 0, 1e6, o.link_latency_us);
  o.servers_per_rack = map.whole("servers_per_rack", 1, kMost, o.servers_per_rack);
  o.spines = map.whole("spines", 1, 4096, o.spines);
  o.uplink_gbps = map.number("uplink_gbps", 0, kFast, o.uplink_gbps);
  o.vl2_aggregation_ports = map.whole("vl2_aggregation_ports", 2, 512, 0U);
  o.vl2_intermediate_ports = map.whole("vl2_intermediate_ports", 2, 512, 0U);
  o.bcube_ports = map.whole("bcube_ports", 2, 1024, o.bcube_ports);
  o.bcube_levels = map.whole("bcube_levels", 1, 8, 0U);
  o.dragonfly_hosts = map.whole("dragonfly_hosts", 1, 4096, 0U);
  o.dragonfly_routers = map.whole("dragonfly_routers", 1, 4096, 0U);
  o.dragonfly_global = map.whole("dragonfly_global", 1, 4096, 0U);
  o.rails = map.whole("rails", 1, 1024, 0U);
  o.racks_per_unit = map.whole("racks_per_unit", 1, 65'536, o.racks_per_unit);
  o.racks = map.whole("racks", 1, 65'536, o.racks);
  o.racks_per_pod = map.whole("racks_per_pod", 1, 65'536, o.racks_per_pod);
  o.scale_up_gbps = map.number("scale_up_gbps", 0.001, kFast, o.scale_up_gbps);
  return o;
}

}  // namespace starling
