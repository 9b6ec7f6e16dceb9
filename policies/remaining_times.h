#pragma once

#include "policies/forecast.h"

namespace starling {

/// What a home can guess of when its jobs end: from the users' estimates, less what the predicted
/// speeds have done so far; where there are none, by Forecast.
class RemainingTimes {
 public:
  explicit RemainingTimes(bool by_kin) : forecast_(by_kin) {}

  /// In every decide(), before left().
  void follow(Residents& residents) { forecast_.follow(residents.take_moves()); }
  /// Seconds at speed 1 that the job still takes.
  [[nodiscard]] double left(const Resident& job, Instant now) const;
  /// The same of a waiting job.
  [[nodiscard]] double left(const JobView& job, Instant now) const;

 private:
  Forecast forecast_;
};

}  // namespace starling
