// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "scheduling/packing.h"
#include "scheduling/policy.h"

namespace starling {

/// Some job of this home runs.
[[nodiscard]] bool any_runs(const View& view);
/// All of it is in this partition, and taken.
[[nodiscard]] bool lies_here(const Occupancy& gpus, const Placement& placement);
[[nodiscard]] bool all_free(const Occupancy& gpus, const Placement& placement);
/// All that it has is free in `gpus`, with its CPUs and memory: it can have it again. False of a
/// job that has nothing.
[[nodiscard]] bool is_left(const Occupancy& gpus, const JobView& job);
/// The running job can have the place as soon as it has left its own: no other has to go.
[[nodiscard]] bool fits_now(const Occupancy& gpus, const Placement& place, const JobView& job);

/// Keeps for a job what is free of the GPUs that it was promised, until those who have the others
/// have stopped: no job starts there meanwhile.
void keep(Occupancy& now, const Placement& promised);
void keep(Trial& now, const Placement& promised);
/// Starts the job where it was promised to if all of that is free, else keeps what is.
void start_or_keep(Trial& now, JobId job, Placement promised, Demand each,
                   std::vector<Decision>& out);

/// Another job was promised some of the GPUs that `job` runs on, or of its CPUs or memory. `soon`:
/// with all that was promised, and without the job. That a server is being drained is no need.
[[nodiscard]] bool is_needed(const Occupancy& soon, const JobView& job);

/// The end of what is promised, for a job that was promised nothing and whose place was given back
/// to `soon`: one who is needed stops; one who is not stays, and its place is taken again. True: it
/// stops.
bool stop_if_needed(Occupancy& soon, const JobView& job, std::vector<Decision>& out);

/// Stop, then start on what was promised: which of those that run here have to stop for those that
/// are to start.
///
/// Running jobs are offered one after the other until there is a place in soon(); what is promised
/// is taken there. In the end those stop who are needed, and the others stay as if none had
/// asked. Those offered must stay valid until settle() or withdraw().
class Eviction {
 public:
  /// `soon`: the partition once everybody who is stopping has stopped; as much of it as leaves()
  /// has not said is not free yet. Must outlive this.
  explicit Eviction(Occupancy& soon) : soon_(soon) {}
  [[nodiscard]] const Occupancy& soon() const noexcept { return soon_; }

  /// The job was told to stop, and still runs.
  void leaves(const JobView& job);
  /// The job may be stopped.
  void offer(const JobView& job);
  /// A job that does not run gets this of soon().
  void promise(const Placement& placement, Demand each) { soon_.take(placement, each); }

  /// Stops those offered who are needed; the others are where they were. Answers who stops, in the
  /// order in which they were offered.
  std::vector<JobId> settle(std::vector<Decision>& out);
  /// None is needed: all that were offered are where they were.
  void withdraw();

 private:
  Occupancy& soon_;
  std::vector<const JobView*> offered_;
};

}  // namespace starling
