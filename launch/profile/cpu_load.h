// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace starling {

/// Ticks that the kernel has counted on one CPU since it started.
struct CpuTicks {
  std::uint64_t idle = 0;    ///< with waiting for disks
  std::uint64_t stolen = 0;  ///< the hypervisor ran another machine
  std::uint64_t all = 0;
};

/// The per-CPU lines of /proc/stat.
[[nodiscard]] std::map<int, CpuTicks> parse_cpu_ticks(std::string_view proc_stat);
/// Now; empty where there is no /proc/stat.
[[nodiscard]] std::map<int, CpuTicks> read_cpu_ticks();

/// What happened on `cpus` between two readings, as shares of all their time.
struct CpuShares {
  double idle = 0, stolen = 0;
};
/// Of no time at all, or of CPUs that are not in both: all idle.
[[nodiscard]] CpuShares cpu_shares(const std::map<int, CpuTicks>& before,
                                   const std::map<int, CpuTicks>& after,
                                   const std::vector<int>& cpus);

/// The share of the cores that others used, when our workloads used `own` CPU seconds per second
/// on all of them together: what was neither idle nor ours.
[[nodiscard]] double other_load(const CpuShares& shares, std::size_t cpus, double own);

}  // namespace starling
