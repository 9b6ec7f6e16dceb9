// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// A GPU as its machine shows it. Empty and 0: not said.
struct GpuFound {
  std::uint32_t index = 0;  ///< as NVML counts, in the order of the PCI bus
  std::string uuid, serial, model;
  double memory_gib = 0;
  std::string pci;               ///< 0000:17:00.0, in lower case
  int socket = -1;               ///< -1: not known
  std::string pcie_switch;       ///< names the innermost bridge that it shares with another GPU
  double pcie_gbps = 0;          ///< of its own PCIe link, in one direction
  std::vector<std::string> mig;  ///< profiles of its slices, as 1g.10gb
  bool mig_on = false;
  std::uint32_t links = 0;         ///< NVLinks that are up
  double nvlink_gbps = 0;          ///< all of them, in one direction
  std::vector<std::string> peers;  ///< PCI addresses of the GPUs at their other ends
  bool switched = false;           ///< they go to NVSwitches
  std::string cluster;             ///< of the fabric over servers; empty: none
  std::uint32_t clique = 0;
  friend bool operator==(const GpuFound&, const GpuFound&) = default;
};

struct NicFound {
  std::string name;
  double gbps = 0;  ///< of its link; 0: it is down, or not said
  friend bool operator==(const NicFound&, const NicFound&) = default;
};

/// What a port of this machine hears at the other end of its cable, by LLDP.
struct NeighbourFound {
  std::string port, switch_name;
  friend bool operator==(const NeighbourFound&, const NeighbourFound&) = default;
};

/// One machine, as it shows itself.
struct MachineFound {
  std::string name;
  double cpus = 0;  ///< hardware threads
  double memory_gib = 0;
  std::uint32_t sockets = 0;
  std::vector<GpuFound> gpus;
  std::vector<NicFound> nics;
  std::vector<NeighbourFound> neighbours;
  std::vector<std::string> remarks;  ///< what could not be seen, a sentence each
  friend bool operator==(const MachineFound&, const MachineFound&) = default;
};

[[nodiscard]] std::string to_json(const MachineFound& machine);
/// `invalid` names the field that is wrong, or says that an amount is impossible.
[[nodiscard]] Result<MachineFound> machine_from_json(const std::string& text);

}  // namespace starling
