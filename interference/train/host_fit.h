// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// How a job slows where CPUs or host memory are short, as Synergy measured it:
///
///   log slowdown = cpu_slope * max(0, log(cpus / c)) + memory_slope * max(0, log(memory_gb / m))
///
/// with c CPUs and m GB per GPU; nothing is lost at `cpus` and `memory_gb` or above. The file has
/// speeds in units of that at 3 CPUs, so that with plenty is fitted, too.
struct HostSensitivity {
  std::string model;
  double cpus = 3, cpu_slope = 1, memory_gb = 62.5, memory_slope = 0;
  [[nodiscard]] double relative(double c, double m) const;
};
struct HostFit {
  std::vector<HostSensitivity> models;
  HostSensitivity other;  ///< for a model that was not measured: the middle of the others
  std::uint32_t rows = 0;
  double mae = 0, mean_mae = 0;  ///< of rows held out: a fifth at a time
};

/// From synergy/cpu_mem_sensitivity.csv. `io` or `invalid` names file and line.
[[nodiscard]] Result<HostFit> fit_host(const std::filesystem::path& file, std::uint64_t seed);

}  // namespace starling
