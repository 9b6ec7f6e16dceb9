// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "launch/hardware/machine_found.h"
#include "launch/hardware/nvml.h"

namespace starling {

/// Where a machine is looked at; others than these are for tests. hwloc itself reads another
/// machine's description where HWLOC_XMLFILE or HWLOC_SYNTHETIC say so.
struct LookSources {
  std::string nvml = kNvmlLibrary;
  std::filesystem::path sys = "/sys";  ///< for the speeds of NICs
  std::string lldpctl = "lldpctl";     ///< a program of PATH; empty: neighbours are not asked for
};

/// This machine: sockets, hardware threads, memory, PCIe and NICs by hwloc, GPUs by NVML (or where
/// there is none, those that hwloc knows by name), the switches at its cables by LLDP where lldpd
/// runs. What cannot be seen is a remark. `io`: hwloc says nothing.
[[nodiscard]] Result<MachineFound> look_at_hardware(const LookSources& sources = {});

/// The switches that `lldpctl -f json` names, by port. `invalid` says what it is not.
[[nodiscard]] Result<std::vector<NeighbourFound>> read_lldp(const std::string& json);

}  // namespace starling
