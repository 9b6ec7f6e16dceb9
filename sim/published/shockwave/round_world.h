// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/published/shockwave/job.h"

namespace starling {

/// A job that has arrived and is not over, in Shockwave's rounds.
struct RoundJob {
  const ShockwaveJob* spec = nullptr;
  std::uint32_t batch = 0;
  std::int64_t steps = 0;                   ///< in all, at the present batch
  std::int64_t done = 0;                    ///< of them
  double ran_s = 0;                         ///< less what starts have cost
  std::optional<std::uint32_t> next_batch;  ///< from the end of its next round
  std::uint32_t failures = 0;               ///< one after another

  [[nodiscard]] double speed() const { return spec->steps_per_s.at(batch); }
  [[nodiscard]] double left() const { return static_cast<double>(steps - done); }
  /// Alone. Below 0 where a change of the batch has rounded up more epochs than are left.
  [[nodiscard]] double left_s() const { return left() / speed(); }
};
using RoundJobs = std::map<std::size_t, RoundJob>;  ///< by number

/// What a job has done in a round.
struct RoundRan {
  double seconds = 0;      ///< less what its start has cost
  std::int64_t steps = 0;  ///< of its batch before any change at the round's end
  bool failed = false;
};

struct RoundView {
  std::uint64_t round;
  double now_s;
  const RoundJobs& jobs;
};

/// Which jobs run in each round, as the authors' simulator asks its policies.
class RoundPolicy {
 public:
  virtual ~RoundPolicy() = default;
  virtual void added(std::size_t job, const RoundView& view) = 0;
  /// Told before the job's batch changes, and before removed().
  virtual void ran(std::size_t job, const RoundRan& what, const RoundView& view) = 0;
  virtual void removed(std::size_t job) = 0;
  /// After all that ran in the last round; before those that arrived in it are added.
  virtual void round_over(const RoundView& /*view*/) {}
  /// Jobs of view.jobs, no more GPUs than there are; those chosen first are placed first.
  virtual std::vector<std::size_t> choose(const RoundView& view) = 0;
};

/// GPUs of the jobs that run in a round.
using RoundPlaces = std::map<std::size_t, std::vector<std::uint32_t>>;

struct RoundRun {
  std::vector<RoundPlaces> rounds;
  std::vector<double> jct_s;  ///< by job; 0: it did not end
  double makespan_s = 0;
};

/// Runs jobs in rounds of 120 s on equal GPUs, as Shockwave's simulator does; a round is over when
/// the last of its jobs is. A job that did not run in the round before loses 20 s, but not in its
/// last one. A change of the batch is noticed at the end of a round and takes place at the end of
/// the next one that the job runs in; it keeps the number of epochs, and done ones are rounded up.
/// A job that this leaves no step fails in its rounds, and is over after five. All is over when the
/// policy runs no job and none is to arrive. Deterministic.
[[nodiscard]] RoundRun run_rounds(const std::vector<ShockwaveJob>& jobs, std::uint32_t gpus,
                                  RoundPolicy& policy);

}  // namespace starling
