// SPDX-License-Identifier: Apache-2.0
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

/// What to generate. All servers are alike but for their GPU type. Each generator reads the sizes
/// that its comment names and ignores those of the others.
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
  std::uint32_t spines = 4;            ///< leaf-spine and rail-optimised
  double uplink_gbps = 0;              ///< of one switch-to-switch link; 0: not oversubscribed
  std::uint32_t fat_tree_k = 0;        ///< even; 0: the smallest that holds the servers
  /// dgx-1, dgx-2, dgx-a100, dgx-h100, 4xt4, 8xa10, gb200-nvl72 or tpu-v4 instead of the figures of
  /// a server above.
  std::string server_template = {};
  std::uint32_t vl2_aggregation_ports = 0;   ///< D_A, even; 0: the smallest D_A = D_I that does
  std::uint32_t vl2_intermediate_ports = 0;  ///< D_I, even; 0: equal to D_A
  std::uint32_t bcube_ports = 8;             ///< n, at least 2
  std::uint32_t bcube_levels = 0;       ///< k + 1, at most 8; 0: the fewest that hold the servers
  std::uint32_t dragonfly_hosts = 0;    ///< p, servers of a router; 0: balanced, p = h
  std::uint32_t dragonfly_routers = 0;  ///< a, routers of a group; 0: balanced, a = 2h
  std::uint32_t dragonfly_global = 0;   ///< h, global links of a router; 0: the smallest that does
  std::uint32_t rails = 0;              ///< 0: a rail for each GPU of a server
  std::uint32_t racks_per_unit = 8;     ///< racks that share rail switches
  std::uint32_t racks = 4;              ///< nvl72
  std::uint32_t racks_per_pod = 8;      ///< torus-pods
  double scale_up_gbps = 0;             ///< of each GPU in a scale-up domain; 0: nvlink_gbps
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

/// VL2 (Greenberg 2009): D_A / 2 intermediate switches, D_I aggregation switches in pairs, a pod
/// per pair with up to D_A / 2 racks, hence at most D_A D_I / 4 racks of servers_per_rack. A rack
/// switch has 2 links up (to its pair), an aggregation switch one to every intermediate. A link
/// between switches carries uplink_gbps, or half of what a rack sends, so that the bisection is
/// full.
[[nodiscard]] Result<Topology> generate_vl2(const GeneratorOptions& options);
/// BCube (Guo 2009) of L = bcube_levels levels: n^L servers with L ports each, and L n^(L-1)
/// switches of n ports; server x reaches on level l the switch that it shares with the servers
/// whose number differs from x in digit l (base n). A port carries nic_gbps / L. Servers relay,
/// there are no links between switches. A rack is a BCube of 1 level, a pod of 2. With fewer
/// servers the last ones are left out, and switches that no server reaches.
[[nodiscard]] Result<Topology> generate_bcube(const GeneratorOptions& options);
/// Dragonfly (Kim 2008): groups (pods) of a routers (racks) of p servers; all routers of a group
/// are linked, and a router has h links to other groups. At most a h + 1 groups; each two share
/// floor(a h / (groups - 1)) links. A link between routers carries uplink_gbps, or nic_gbps.
[[nodiscard]] Result<Topology> generate_dragonfly(const GeneratorOptions& options);
/// Rail-optimised: a pod is a unit of racks_per_unit racks of servers_per_rack servers with one
/// switch a rail; port i of each server reaches rail switch i with nic_gbps / rails. With more than
/// one unit every rail switch reaches every spine with uplink_gbps, or an equal part of what its
/// servers send, so that the bisection is full.
[[nodiscard]] Result<Topology> generate_rail_optimised(const GeneratorOptions& options);

/// `racks` racks of 18 gb200-nvl72 trays, each a scale-up domain of 72 GPUs; one pod, wired as a
/// leaf-spine of the trays' NICs.
[[nodiscard]] Result<Topology> generate_nvl72(const GeneratorOptions& options);
/// Pods of racks_per_pod racks of servers_per_rack hosts, each pod a scale-up domain (TPU-like: the
/// links of its torus are those of nvlink_gbps); between hosts and pods a leaf-spine.
[[nodiscard]] Result<Topology> generate_torus_pods(const GeneratorOptions& options);

/// By name: flat, leaf-spine, fat-tree, vl2, bcube, dragonfly, rail-optimised, nvl72, torus-pods.
/// `not_found` lists them.
[[nodiscard]] Result<Topology> generate(std::string_view kind, const GeneratorOptions& options);

}  // namespace starling
