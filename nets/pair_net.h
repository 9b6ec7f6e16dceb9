// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "nets/weights.h"

namespace starling {

/// What a pair network is told of a job: which of the types it has seen, or which model at another
/// configuration, or neither; then only the profile counts.
struct PairSide {
  std::int32_t type = -1;
  std::int32_t model = -1;         ///< with a type: the type's
  std::span<const float> config;   ///< config_width() values, e.g. log2 of the batch size
  std::span<const float> profile;  ///< profile_width() values
};

/// An ensemble of small networks for how much one job slows another, in sets of measurements that
/// differ by hardware or campaign:
///
///   x = profile U + model + config slopes + type        (the same for the other job: z)
///   t = bias + a(x) + b(z) + <x (1 + f), z (1 + g)> + out . tanh(x H + z G + set)
///   log slowdown = log(1 + exp(t))                      never below 0
///
/// Everything but the last product of two sums depends on one job alone, so it is computed once per
/// job and set, as a row of floats; a pair then costs a dot product and `hidden` tanh per member.
/// Tensors with a leading dimension for the members, under a prefix: see interference/train.
/// Const calls allocate nothing and may run side by side.
class PairNet {
 public:
  /// `not_found` or `invalid` names the tensor that is missing or does not fit.
  [[nodiscard]] static Result<PairNet> make(const Weights& weights, const std::string& prefix);

  [[nodiscard]] std::size_t members() const noexcept { return members_; }
  [[nodiscard]] std::size_t sets() const noexcept { return sets_; }
  [[nodiscard]] std::size_t types() const noexcept { return types_; }
  [[nodiscard]] std::size_t models() const noexcept { return models_; }
  [[nodiscard]] std::size_t config_width() const noexcept { return config_; }
  [[nodiscard]] std::size_t profile_width() const noexcept { return profile_; }
  /// Floats of a job's row, all members.
  [[nodiscard]] std::size_t row_width() const noexcept { return members_ * (width_ + hidden_ + 1); }

  /// The job as the one that is slowed, and as the one that slows. `row`: row_width() floats.
  void victim(const PairSide& job, std::size_t set, std::span<float> row) const;
  void aggressor(const PairSide& job, std::size_t set, std::span<float> row) const;
  /// Log slowdown by member, at least 0. `out`: members() floats.
  void log_slowdown(std::span<const float> victim, std::span<const float> aggressor,
                    std::span<float> out) const;
  /// What a set's measurements of a type are off by because its speed alone was, as a factor; mean
  /// of the members. 1 for a type not seen.
  [[nodiscard]] double nuisance(std::int32_t type, std::size_t set) const;

 private:
  struct Side {
    std::vector<float> profile, model, slope, type, film, linear, hidden, type_bias, model_bias;
  };
  void row_of(const Side& side, const PairSide& job, std::size_t set, bool with_set,
              std::span<float> row) const;

  std::size_t members_ = 0, sets_ = 0, types_ = 0, models_ = 0;
  std::size_t config_ = 0, profile_ = 0, width_ = 0, hidden_ = 0;
  std::vector<float> config_center_, config_scale_, profile_mean_, profile_scale_;
  Side victim_, aggressor_;
  std::vector<float> set_hidden_, set_bias_, out_, nuisance_;
};

}  // namespace starling
