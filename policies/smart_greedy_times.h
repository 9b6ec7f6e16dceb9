#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "policies/candidates.h"
#include "policies/gittins.h"

namespace starling {

/// What a home can guess of when its jobs end: from the users' estimates, less what the predicted
/// speeds have done so far; where there are none, the median of what those past jobs still took
/// that had run as long.
class RemainingTimes {
 public:
  /// Of a job that is not known at all: until enough have ended here.
  static constexpr double kUnknownS = 900;

  void learn(std::span<const Duration> ended);
  /// Seconds at speed 1 that the job still takes.
  [[nodiscard]] double left(const Resident& job, Instant now) const;
  /// The same of a waiting job.
  [[nodiscard]] double left(const JobView& job) const;

 private:
  [[nodiscard]] double unknown(double attained) const;
  ServiceHistory history_;
};

/// When GPUs of one kind (see FreeServers) come free together, by those guesses; newcomers are
/// ignored, those who wait already are not. One call of decide() at a time.
class FreeTimes {
 public:
  void begin(const View& view, Candidates& candidates, const RemainingTimes& remaining);
  /// Seconds until a gang could start on free GPUs of the kind, on as few servers as it must take,
  /// after what was promised; infinite if that is not to be seen.
  [[nodiscard]] double wait(std::uint32_t kind, const Wish& wish);
  /// Somebody ahead in the queue waits for so many GPUs of the kind.
  void promise(std::uint32_t kind, std::uint32_t gpus);

 private:
  void look_at_gpus();
  const std::vector<double>& times(std::uint32_t kind, std::uint32_t count);

  const View* view_ = nullptr;
  Candidates* candidates_ = nullptr;
  const RemainingTimes* remaining_ = nullptr;
  std::vector<double> gpu_;  // by GPU of the partition: seconds until it is free; empty: not yet
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> times_;  // kind, count
  std::vector<std::uint32_t> promised_;                                           // GPUs, by kind
};

}  // namespace starling
