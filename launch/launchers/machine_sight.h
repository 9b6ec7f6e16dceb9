// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "topology/topology.h"

namespace starling {

/// What this machine shows of itself. A topology is believed, since it may describe what a test or
/// an emulation stands for; what starts real processes by it should be told when less is there.
struct MachineSight {
  std::uint32_t gpus =
      0;  ///< the most that the NVIDIA driver or device files show; MIG slices are not counted
  std::uint32_t cpus = 0;  ///< that this process may run on
  double memory_gib = 0;
};

/// `devices` and `library` are for tests.
[[nodiscard]] MachineSight look_at_machine(const std::filesystem::path& devices = "/dev",
                                           const std::string& library = "libnvidia-ml.so.1");

/// One sentence about what those servers have in the topology and `machine` lacks if it is all of
/// them; empty where nothing lacks. A tenth of the memory may be missing: kernels keep some.
[[nodiscard]] std::string lacking(const MachineSight& machine, const Topology& topology,
                                  IndexRange servers);

}  // namespace starling
