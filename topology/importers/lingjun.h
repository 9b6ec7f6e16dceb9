// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

/// What the table does not say.
struct LingjunOptions {
  std::uint32_t gpus_per_host = 8;
  std::string gpu_type = "A100-80GB";
  double cpus = 128;
  double memory_gib = 1024;
  double nic_gbps = 800;      ///< all ports of a host together
  double nvlink_gbps = 2400;  ///< among all GPUs of a host
};

inline constexpr const char* kLingjunHeader = "host,DSW,PSW,ASW";
[[nodiscard]] bool is_lingjun_header(std::string_view line) noexcept;

/// Alibaba's Lingjun host-switch table (2023): a pod per aggregation switch (PSW), a rack per
/// access switch (ASW) and PSW, because an ASW's number occurs under several PSWs; one core switch
/// (DSW). Links above the racks carry what the largest rack can send. Pods and racks stand in the
/// order of their numbers. `invalid` with a line per bad row, `unsupported` for more than one DSW.
[[nodiscard]] Result<Topology> import_lingjun(const std::string& text, const std::string& file_name,
                                              const LingjunOptions& options = {});

}  // namespace starling
