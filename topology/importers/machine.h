// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "topology/reading/diagnostics.h"
#include "topology/topology.h"

namespace starling {

/// One machine as its own tools describe it. 0 and empty: not said.
struct Machine {
  std::string gpu_type;  ///< any label; one that is not known becomes a type of 16 GiB
  double cpus = 0;
  double memory_gib = 0;
  std::uint32_t nics = 0;
  double nic_gbps = 0;  ///< of one of them
  /// By socket the GPUs below each PCIe switch, in the order of the GPUs.
  std::vector<std::vector<std::uint32_t>> sockets;
  std::uint32_t nvlink_island = 0;  ///< consecutive GPUs that NVLink joins; 0: no NVLink
  double nvlink_gbps = 0;
  double pcie_gbps = 0;
};

/// A topology of this machine alone: its name is the file's. What was not said is assumed: 12 CPUs
/// and 64 GiB a GPU, NICs of 100 Gbit/s, V100, NVLink 400 and PCIe 128 Gbit/s. Reports a machine
/// without GPUs or with more than 256.
[[nodiscard]] Result<Topology> topology_of(const Machine& machine, const std::string& file_name,
                                           Diagnostics& diagnostics);

/// Line of the byte at `offset`, from 1.
[[nodiscard]] int line_at(const std::string& text, std::ptrdiff_t offset);

}  // namespace starling
