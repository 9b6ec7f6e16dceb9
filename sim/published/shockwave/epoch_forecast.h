// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/published/shockwave/job.h"

namespace starling {

/// How long Shockwave expects a job to train on: it knows how long an epoch of each of the job's
/// batches takes, and learns how many there are of each from those that it has seen, which count on
/// top of equal parts of all epochs (a Dirichlet prior). Epoch times are scaled to the measured
/// pace where that is off by more than 40 %, in steps: a call goes on from the last one's times.
class EpochForecast {
 public:
  EpochForecast(const ShockwaveJob& job, double submitted_s);

  /// At the end of a round that it ran in. Rounds rise.
  void measured(std::uint64_t round, std::uint32_t batch, double steps_per_s);
  void set_progress(std::int64_t epochs) noexcept { progress_ = epochs; }

  void calibrate();
  /// Mean time of the epochs up to the present one, after calibrate().
  [[nodiscard]] double epoch_s();
  /// Expected, after calibrate(); 1 where nothing is left.
  [[nodiscard]] double left_s();
  /// When it would be over with that part of its GPUs, after calibrate().
  [[nodiscard]] double finish_s(double share);

  [[nodiscard]] std::int64_t progress() const noexcept { return progress_; }
  [[nodiscard]] auto epochs() const noexcept { return static_cast<std::int64_t>(batch_.size()); }

 private:
  struct Measured {
    std::uint64_t round;
    double samples_per_s;
  };
  /// Samples by the profile in the first `seconds`.
  [[nodiscard]] double profiled_samples(double seconds) const;
  /// Expected number of epochs to come of each batch, before it is scaled to their known sum.
  [[nodiscard]] std::map<std::uint32_t, double> expected() const;

  double samples_, submitted_s_;
  std::vector<std::uint32_t> batch_;        // by epoch
  std::vector<double> profiled_, epoch_s_;  // by epoch: whole seconds, and those calibrated
  std::vector<Measured> measured_;
  std::int64_t progress_ = 0;
};

}  // namespace starling
