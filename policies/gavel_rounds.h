#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace starling {

/// Gavel's round mechanism: turns fractions of time into who runs in the next round. A job's
/// priority on a type is its allocation over the part of the type's time that it has received since
/// the last reset; a reset carries over as a deficit what it should have received and did not.
class GavelRounds {
 public:
  /// A newcomer counts as having had half a `round` on every type, so that nobody's part is 0.
  GavelRounds(std::size_t types, Duration round);

  void enter(JobId job);
  void leave(JobId job);
  /// `job` ran on `type` for `time`.
  void receive(JobId job, std::size_t type, Duration time);
  /// Everyone starts anew. `allocation` is by type; jobs that are not in it have none.
  void reset(Instant now, std::map<JobId, std::vector<double>> allocation);
  [[nodiscard]] Instant last_reset() const noexcept { return last_reset_; }

  struct Candidate {
    JobId job;
    std::uint32_t gpus = 1;
    std::span<const double> speed;  ///< by type
  };
  struct Pick {
    std::size_t candidate;
    std::size_t type;
  };
  /// Type after type in `order`, best priority first, each job once, whoever fits in `gpus` left of
  /// the type; then, unless `allocated_only`, also those that have no allocation.
  [[nodiscard]] std::vector<Pick> pick(std::span<const Candidate> candidates,
                                       std::vector<std::uint32_t> gpus,
                                       std::span<const std::size_t> order,
                                       bool allocated_only) const;

 private:
  struct Account {
    std::vector<double> received;  // seconds, by type
    std::vector<double> deficit;
    std::vector<double> allocation;  // empty: none yet
  };
  std::size_t types_;
  double head_start_;
  std::map<JobId, Account> accounts_;
  std::vector<double> type_time_;  // seconds of all jobs since the last reset
  Instant last_reset_{};
};

}  // namespace starling
