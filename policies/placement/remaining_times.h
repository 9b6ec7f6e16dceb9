// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "policies/placement/forecast.h"

namespace starling {

/// What a home can guess of when its jobs end: from the users' estimates, less what the predicted
/// speeds have done so far; where there are none, by Forecast.
class RemainingTimes {
 public:
  explicit RemainingTimes(bool by_group) : forecast_(by_group) {}

  /// In every decide(), before left().
  void follow(Residents& residents, Instant now) { forecast_.follow(residents.take_moves(), now); }
  /// Seconds at speed 1 that the job still takes.
  [[nodiscard]] double left(const Resident& job, Instant now) const;
  /// The same of a waiting job.
  [[nodiscard]] double left(const JobView& job, Instant now) const;
  /// Quantile `u`, in [0, 1), of what left() is one figure of; users' estimates are taken at their
  /// word.
  [[nodiscard]] double draw(const Resident& job, Instant now, double u) const;
  [[nodiscard]] double draw(const JobView& job, Instant now, double u) const;
  /// The same of jobs that have not run.
  [[nodiscard]] double left(const JobSpec& job, Instant submitted, Instant now) const;
  [[nodiscard]] double draw(const JobSpec& job, Instant submitted, Instant now, double u) const;
  /// Enough is known to draw from.
  [[nodiscard]] bool draws() const noexcept { return forecast_.draws(); }
  /// Of jobs that ran and ended here; for Policy::save().
  [[nodiscard]] const Forecast& forecast() const noexcept { return forecast_; }
  void restore(Forecast forecast) { forecast_ = std::move(forecast); }

 private:
  Forecast forecast_;
};

}  // namespace starling
