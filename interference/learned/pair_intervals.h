// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "interference/learned/pair_model.h"
#include "nets/weights.h"

namespace starling {

/// Half of a 90 % interval, in standard deviations of a normal distribution.
inline constexpr double kSigmas90 = 1.645;

/// Half widths of 90 % intervals: `width` * (`floor` + spread of the ensemble), by set and by
/// whether both types are known. Conformal: `width` is the quantile of what rows that training had
/// not seen needed.
struct PairIntervals {
  struct Scale {
    double floor = 0.05, width = 2;
  };
  std::vector<Scale> known, unknown;  ///< by set

  [[nodiscard]] double half(const PairGuess& guess, std::size_t set, bool all_known) const;
  void save(const std::string& prefix, Weights& weights) const;
  [[nodiscard]] static Result<PairIntervals> load(const Weights& weights,
                                                  const std::string& prefix);
};

}  // namespace starling
