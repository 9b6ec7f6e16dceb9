// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "interference/goodput/noise_scale.h"
#include "interference/goodput/step_time.h"

namespace starling {

/// Between what a job may choose its batch, in samples. Whole numbers.
struct BatchLimits {
  double own = 1;          ///< M0: what its user chose; never less
  double largest = 1;      ///< of all replicas together
  double least_local = 1;  ///< of one replica
  double most_local = 1;   ///< that a GPU has the memory for
};

/// How a batch is computed by so many replicas.
struct BatchSplit {
  double local_batch = 0;
  std::uint32_t accumulation = 0;

  friend bool operator==(const BatchSplit&, const BatchSplit&) = default;
};

/// A batch for so many replicas, in as few gradients as the memory allows; the last sample of an
/// uneven division is rounded up, as long as all stay within limits.largest. One replica with more
/// than its own batch accumulates at least once, since only that lets it measure noise (Pollux'
/// rule).
[[nodiscard]] BatchSplit split_batch(double batch, std::uint32_t replicas,
                                     const BatchLimits& limits) noexcept;

/// Progress per second in samples at the own batch: throughput times statistical efficiency.
[[nodiscard]] double goodput(const StepTime& time, const NoiseScale& noise, double done,
                             const StepShape& shape) noexcept;

/// The same where the noise scale is known as a number, relative to a batch; 0: none is, and each
/// sample counts.
[[nodiscard]] double goodput(const StepTime& time, double phi, double own_batch,
                             const StepShape& shape) noexcept;

/// The split for which `value` is highest, and that; 0 where so many replicas have no batch at all,
/// since even the least of each is more than the largest.
struct BatchChoice {
  BatchSplit split;
  double goodput = 0;
};

/// Batches that best_batch() tries.
inline constexpr std::uint32_t kBatchCandidates = 50;

/// Pollux' search: kBatchCandidates batches from the least to the largest in geometric steps; of
/// equal ones the smallest.
template <class Value>
[[nodiscard]] BatchChoice best_split(const BatchLimits& limits, std::uint32_t replicas,
                                     Value&& value) {
  BatchChoice best;
  const double least = std::max(limits.own, limits.least_local * replicas);
  if (replicas == 0 || least > limits.largest) return best;
  const double ratio = std::pow(limits.largest / least, 1.0 / (kBatchCandidates - 1));
  double batch = least;
  for (std::uint32_t i = 0; i < kBatchCandidates; ++i, batch *= ratio) {
    const BatchSplit split = split_batch(std::min(batch, limits.largest), replicas, limits);
    const double found = value(split);
    if (found > best.goodput) best = {split, found};
  }
  return best;
}

/// Replicas, servers and tier are those of `where`, batch and accumulation are to be found.
[[nodiscard]] BatchChoice best_batch(const StepTime& time, const NoiseScale& noise,
                                     const BatchLimits& limits, const StepShape& where,
                                     double done) noexcept;
/// The same by a noise scale that was measured; 0: none was, and every sample makes as much
/// progress.
[[nodiscard]] BatchChoice best_batch(const StepTime& time, double phi, const BatchLimits& limits,
                                     const StepShape& where) noexcept;

}  // namespace starling
