// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

[[nodiscard]] bool is_hwloc_xml(std::string_view text) noexcept;

/// hwloc's XML of one machine (lstopo --of xml): packages are sockets, the innermost bridge with
/// several GPUs is their PCIe switch, PCI class 03 with an NVML or CUDA device is a GPU, class 02 a
/// NIC. The NVLinkBandwidth matrix (MB/s) gives the islands: GPUs that it joins, through NVSwitches
/// or not; all NVSwitches of a machine are one fabric. An export restricted to fewer CPUs than GPUs
/// says nothing of the CPUs. `invalid` with file:line.
[[nodiscard]] Result<Topology> import_hwloc(const std::string& text, const std::string& file_name);

}  // namespace starling
