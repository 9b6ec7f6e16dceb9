// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "interference/pairs/evaluate.h"
#include "interference/pairs/pair_data.h"
#include "interference/train/pair_trainer.h"

namespace starling {

/// How the rows are parted: random pairs (both directions together), or everything with one job
/// type, or with one model, at a time.
enum class FoldKind : std::uint8_t { pairs, types, models };

/// What an ensemble trained without it says of each row. A row that several folds hold out (by both
/// its types, one after the other) keeps the last guess. Deterministic.
struct HeldOut {
  std::vector<PairGuess> guesses;  ///< by row
  std::vector<std::uint32_t> fold;
  // Yardsticks: what was trained on has as the mean of the row's set, and as the best sum of that
  // and of what each type adds as victim and as neighbour.
  std::vector<double> mean, additive;
};
[[nodiscard]] HeldOut cross_validate(const PairData& data, FoldKind kind, std::uint32_t folds,
                                     const PairTrainOptions& options,
                                     const std::function<void(std::uint32_t, std::uint32_t)>& step);

/// Fold of each pair.
[[nodiscard]] std::vector<std::uint32_t> random_folds(std::uint32_t pairs, std::uint32_t folds,
                                                      std::uint64_t seed);

}  // namespace starling
