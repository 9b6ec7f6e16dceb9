// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "interference/learned/pair_intervals.h"
#include "interference/pairs/pair_data.h"

namespace starling {

/// A prediction of one row, and how far the truth may be: in 90 of 100 cases no more than `half`.
struct PairAnswer {
  double speed = 1;
  double half = 0;
};

/// Of the rows' guesses, where `counts` is true; a set without rows gets all rows' scale.
[[nodiscard]] std::vector<PairIntervals::Scale> fit_intervals(const PairData& data,
                                                              const std::vector<PairGuess>& guesses,
                                                              const std::vector<bool>& counts);

/// What the campaign that was clipped to 1 would have said.
[[nodiscard]] double as_measured(const PairData& data, std::uint32_t set, double speed);

struct PairErrors {
  std::uint64_t rows = 0;
  double mae = 0, rmse = 0;
  double coverage90 = 0;  ///< part of the rows within their interval
  double mean_mae = 0;    ///< of always answering the mean of these rows
  void add(double speed, const PairAnswer& answer);
  void close();
};

/// "Is this share worth it": both speeds of a pair together above 1 + gain or not, told wrongly.
struct ShareWorth {
  double gain = 0;
  std::uint64_t pairs = 0, wrong = 0;
};
/// For gains of 0 and 0.3, of the pairs of which both directions were measured; `ours`: a speed for
/// each row. Empty if there is no such pair.
[[nodiscard]] std::vector<ShareWorth> worth_sharing(const PairData& data,
                                                    const std::vector<double>& ours);

/// Area under the curve of `score` for telling `ran` (higher) from not; 0.5 is a coin's. 1 where
/// all are alike.
[[nodiscard]] double area_under_curve(const std::vector<std::pair<double, bool>>& scores);

}  // namespace starling
