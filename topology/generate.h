#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

/// Consecutive servers of one GPU type.
struct ServerGroup {
  std::uint32_t servers = 0;
  std::string gpu_type;
  friend bool operator==(const ServerGroup&, const ServerGroup&) = default;
};

/// Reads "64" (all of `default_type`) or "8:V100,16:P100,24:K80". `invalid` names the bad piece.
[[nodiscard]] Result<std::vector<ServerGroup>> parse_server_groups(
    std::string_view text, const std::string& default_type = "V100");

/// What to generate. All servers are alike but for their GPU type.
struct GeneratorOptions {
  std::string name = {};                 ///< empty: leaf-spine-64x8 and the like
  std::uint32_t servers = 8;             ///< ignored where `groups` is given
  std::string gpu_type = "V100";         ///< of `servers`
  std::vector<ServerGroup> groups = {};  ///< mixed types, in depth-first order
  std::uint32_t gpus_per_server = 8;
  std::uint32_t gpus_per_island = 4;  ///< at most gpus_per_server is used
  double cpus = 64;
  double memory_gib = 512;
  double nic_gbps = 100;
  double nvlink_gbps = 400;            ///< within an island
  double pcie_gbps = 128;              ///< between islands of a server
  double link_latency_us = 1;          ///< of every link
  std::uint32_t servers_per_rack = 8;  ///< flat ignores it; a fat-tree has k/2
  std::uint32_t spines = 4;            ///< leaf-spine only
  double uplink_gbps = 0;              ///< of one switch-to-switch link; 0: not oversubscribed
  std::uint32_t fat_tree_k = 0;        ///< even; 0: the smallest that holds the servers
};

/// `invalid` for zero counts, speeds that are not positive, unknown GPU types, or more than
/// base/limits.h allows.
/// One pod, one rack, one switch.
[[nodiscard]] Result<Topology> generate_flat(const GeneratorOptions& options);
/// One pod; a leaf switch per rack, linked to every spine.
[[nodiscard]] Result<Topology> generate_leaf_spine(const GeneratorOptions& options);
/// k pods of k/2 racks (edge switches) of k/2 servers, k/2 aggregation switches a pod, (k/2)^2 core
/// switches (Al-Fares 2008). Pods and racks that would hold no server are left out. With fat_tree_k
/// given and `servers` 0, it is full.
[[nodiscard]] Result<Topology> generate_fat_tree(const GeneratorOptions& options);

/// By name: flat, leaf-spine, fat-tree. `not_found` lists them.
[[nodiscard]] Result<Topology> generate(std::string_view kind, const GeneratorOptions& options);

}  // namespace starling
