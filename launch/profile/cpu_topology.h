// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "interference/profile/plan.h"

namespace starling {

/// One hardware thread: what it shares with which others. Two are equal in a field if they share.
struct CpuInfo {
  int number = 0;
  std::string core;    ///< the hardware threads of its core, "0,4"
  std::string cache;   ///< those under its last-level cache, "0-3"; "" if the kernel does not say
  std::string socket;  ///< package number
};

/// "0,2,4-6" as numbers in that order; `invalid` says what is no list of cores, or is twice.
[[nodiscard]] Result<std::vector<int>> parse_cores(std::string_view text);

/// From the kernel's folder, normally /sys/devices/system/cpu. Where it says nothing about a CPU,
/// that is a core and a cache of its own on socket 0.
[[nodiscard]] std::vector<CpuInfo> read_cpu_topology(const std::filesystem::path& folder,
                                                     const std::vector<int>& cpus);
/// One place for every relation that two of these CPUs, or one with itself, can have: the first in
/// their order.
[[nodiscard]] std::vector<CorePlace> places_of(const std::vector<CpuInfo>& cpus);

/// A short name of this machine's processor for tables, from /proc/cpuinfo: "amd-epyc-2cpu".
[[nodiscard]] std::string hardware_name(std::string_view cpuinfo, std::size_t cpus);

}  // namespace starling
