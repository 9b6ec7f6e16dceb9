// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "base/result.h"
#include "sim/published/shockwave/dynamic_batches.h"

namespace starling {

/// A job of Shockwave's trace. Its number is its row, from 0; rows are in order of arrival.
struct ShockwaveJob {
  struct Epoch {
    std::uint32_t batch;
    double duration_s;  ///< alone on its GPUs
  };
  DynamicBatches batches;
  std::uint32_t gpus = 1;
  std::int64_t steps = 0;  ///< at the first batch
  double arrival_s = 0;
  std::map<std::uint32_t, double> steps_per_s;  ///< by batch, for every batch that it may have
  std::vector<Epoch> profile;                   ///< of all its epochs

  [[nodiscard]] double alone_s() const;  ///< by its profile
};

/// shockwave_traces/shockwave_120_100.csv with the speeds of tacc_throughputs.csv.
[[nodiscard]] Result<std::vector<ShockwaveJob>> read_shockwave_jobs(
    const std::filesystem::path& data);

}  // namespace starling
