#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

/// What the node list does not say.
struct OpenbOptions {
  std::uint32_t servers_per_rack = 0;  ///< consecutive nodes; 0: one rack with one switch
  std::uint32_t gpus_per_island = 4;   ///< at most; four to a PCIe switch or socket is usual
  double nic_gbps = 100;
};

inline constexpr const char* kOpenbHeader = "sn,cpu_milli,memory_mib,gpu,model";
[[nodiscard]] bool is_openb_header(std::string_view line) noexcept;

/// Alibaba's openb node list (2023): one server a row. Nodes without GPUs stay, as servers without
/// GPUs. Its racks were not published; see the options. `invalid` with a line per bad row.
[[nodiscard]] Result<Topology> import_openb(const std::string& text, const std::string& file_name,
                                            const OpenbOptions& options = {});

}  // namespace starling
