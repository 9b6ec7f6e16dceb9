// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "topology/reading/diagnostics.h"
#include "topology/topology.h"

namespace starling {

/// One line of a node list.
struct ListedNode {
  std::string name;
  double cpus = 0;
  double memory_gib = 0;
  std::uint32_t gpus = 0;
  std::string model;  ///< any label of the GPU type; one that is not known has 16 GiB
};

/// What node lists do not say.
struct NodeListOptions {
  std::uint32_t servers_per_rack = 0;  ///< consecutive nodes; 0: one rack with one switch
  std::uint32_t gpus_per_island = 4;   ///< at most; four to a PCIe switch or socket is usual
  double nic_gbps = 100;
};

/// One server a node, in their order.
[[nodiscard]] Result<Topology> build_node_list(const std::vector<ListedNode>& nodes,
                                               const std::string& file_name,
                                               Diagnostics& diagnostics,
                                               const NodeListOptions& options);

inline constexpr const char* kPaiHeader = "machine,gpu_type,cap_cpu,cap_mem,cap_gpu";
inline constexpr const char* kSpotHeader = "gpu_model,gpu_capacity_num,cpu_num,node_name";
[[nodiscard]] bool is_pai_header(std::string_view line) noexcept;
[[nodiscard]] bool is_spot_header(std::string_view line) noexcept;

/// Alibaba's PAI machine list (2020), memory in GiB, and its spot-GPU node list (2026), which gives
/// no memory: 8 GiB a CPU are assumed. `invalid` with a line per bad row.
[[nodiscard]] Result<Topology> import_pai(const std::string& text, const std::string& file_name,
                                          const NodeListOptions& options = {});
[[nodiscard]] Result<Topology> import_spot(const std::string& text, const std::string& file_name,
                                           const NodeListOptions& options = {});

}  // namespace starling
