// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace starling {

/// Measured: the speed of job type `own`, as a part of alone, beside `other` on one GPU.
struct PairSample {
  std::size_t own = 0;
  std::size_t other = 0;
  double speed = 0;
  bool at_least = false;  ///< it was clipped there: the speed is this or more
  std::size_t pair = 0;   ///< the two directions of one measurement have the same
};

/// Most products of the form below.
constexpr std::size_t kPairTerms = 3;

/// What a job type keeps of its speed beside others, and what it leaves to them:
///
///   speed(own, other) = own.keeps + other.leaves + sum over k of own.sensitive[k] * other.rough[k]
struct PairFigures {
  double keeps = 0.5;
  double leaves = 0.5;
  std::array<double, kPairTerms> sensitive{};
  std::array<double, kPairTerms> rough{};
};

/// The form above, cut to [kSlowestPair, 1].
constexpr double kSlowestPair = 0.03;
[[nodiscard]] double pair_speed(const PairFigures& own, const PairFigures& other) noexcept;

/// Figures of `types` types that come near the samples: least absolute error, with a ridge on the
/// products, so that what few samples say counts little; by gradient descent from a fixed start.
/// `terms` products, at most kPairTerms. A type without samples has the mean's figures.
[[nodiscard]] std::vector<PairFigures> fit_pairs(const std::vector<PairSample>& samples,
                                                 std::size_t types, std::size_t terms);

/// Mean absolute error of the speeds.
[[nodiscard]] double pair_error(const std::vector<PairFigures>& figures,
                                const std::vector<PairSample>& samples);

/// The same of samples that the fit has not seen: each fifth of the pairs is predicted from the
/// others.
[[nodiscard]] double withheld_pair_error(const std::vector<PairSample>& samples, std::size_t types,
                                         std::size_t terms);
/// And of always answering the mean of the others.
[[nodiscard]] double withheld_mean_error(const std::vector<PairSample>& samples);

}  // namespace starling
