// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "interference/pairs/pair_data.h"

namespace starling {

/// GPU memory of each type, told from which pairs ran at all:
///
///   P(ran) = 1 / (1 + exp(-steepness * (log2(capacity) - log2(one + other) + margin)))
///
/// A larger batch never takes less.
struct MemoryFit {
  std::vector<double> memory_gib;  ///< by type
  double steepness = 10, margin = 0;
  [[nodiscard]] double score(double one_gib, double other_gib, double capacity_gib) const;
};
/// On the pairs for which `used` is true (all, if empty).
[[nodiscard]] MemoryFit fit_memory(const PairData& data, const std::vector<bool>& used);

/// GPU memory in GiB of a Gavel set's GPU type.
[[nodiscard]] double capacity_gib(const std::string& set);

/// Area under the curve of pairs held out, a fifth at a time.
[[nodiscard]] double held_out_auc(const PairData& data, std::uint32_t folds, std::uint64_t seed);

}  // namespace starling
