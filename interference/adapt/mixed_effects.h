// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "interference/adapt/shift_prior.h"

namespace starling {

/// A victim beside one other, as MixedEffects is asked about it.
struct ShiftedPair {
  std::uint16_t victim = 0, other = 0;  ///< any numbers that tell job types apart
  ShiftFeatures features{};             ///< ShiftPrior::features()
};

/// What was learned of one kind of hardware in the terms of a ShiftPrior: the joint normal belief
/// of its slopes and of the effects of the job types that were met, which each measured speed
/// updates exactly (a Kalman filter whose state stands still; the marginals are those of
/// C. R. Henderson's mixed model), so that a pair that was not measured profits from all that were.
/// Effects of pairs are kept apart from the rest, as independent beliefs.
///
/// The variance is what the belief says times how large surprises were of late, so that intervals
/// cover on hardware that is farther from the prior than any before. Bounded: kMostEffects effects
/// of types, those that come first, and kMostPairs of pairs, of which the one longest unused goes.
/// One wild measurement moves nothing by more than kMostSurprise deviations. Deterministic.
class MixedEffects {
 public:
  static constexpr std::size_t kMostEffects = 128, kMostPairs = 1024;
  static constexpr double kMostSurprise = 4;

  explicit MixedEffects(const ShiftPrior& prior);

  struct Belief {
    double mean = 0, variance = 0;  ///< of the log of true over predicted speed
  };
  /// Of a job that meets all of these at once: their log corrections add up.
  [[nodiscard]] Belief believe(std::span<const ShiftedPair> pairs) const;
  /// Learns from a measured log ratio, whose variance beyond that of the noise is `more`. Returns
  /// how many of its deviations it was off what was believed.
  double observe(std::span<const ShiftedPair> pairs, double log_ratio, double more = 0);

  /// Of what is left of two, as believe() has it.
  [[nodiscard]] double covariance(std::span<const ShiftedPair> one,
                                  std::span<const ShiftedPair> other) const;

  [[nodiscard]] std::uint64_t observed() const noexcept { return observed_; }
  /// Log likelihood of what was measured, each given what was measured before it, but for a
  /// constant.
  [[nodiscard]] double evidence() const noexcept { return evidence_; }

  void save(std::vector<std::byte>& out) const;
  /// Reads what save() wrote from word `at` on, which is moved behind it. `invalid`: it is not
  /// that; then this is of no use any more.
  [[nodiscard]] Status restore(std::span<const std::byte> bytes, std::size_t& at);

 private:
  struct PairBelief {
    double mean = 0, variance = 0;
    std::uint64_t used = 0;
  };
  struct Entry {
    std::size_t index = 0;
    double value = 0;
  };
  /// What a question is made of: parts of the joint belief, variance of types that have no effect
  /// in it yet, and pairs with how often each counts.
  struct Question {
    std::vector<Entry> entries;
    double unmet = 0;
    std::vector<std::uint32_t> strangers;  ///< those types, by effect_key()
    std::vector<std::pair<std::uint32_t, double>> pairs;
  };
  static std::uint32_t pair_key(const ShiftedPair& pair) noexcept {
    return std::uint32_t{pair.victim} << 16U | pair.other;
  }
  /// Of a type as a victim (side 0) or as an other (side 1).
  static std::uint32_t effect_key(std::uint16_t type, unsigned side) noexcept {
    return std::uint32_t{type} << 1U | side;
  }
  void ask(std::span<const ShiftedPair> pairs, Question& question) const;
  [[nodiscard]] double effect_variance(unsigned side) const noexcept;
  void meet(std::span<const ShiftedPair> pairs);
  void make_room();
  [[nodiscard]] std::size_t size() const noexcept { return mean_.size(); }
  [[nodiscard]] double scale() const noexcept;

  ShiftPrior prior_;
  std::map<std::uint32_t, std::size_t> effects_;  // index in the joint belief
  std::vector<double> mean_, covariance_;         // size() and its square
  std::map<std::uint32_t, PairBelief> pairs_;
  double squares_, weight_;  // of surprises
  double evidence_ = 0;
  std::uint64_t observed_ = 0;
};

}  // namespace starling
