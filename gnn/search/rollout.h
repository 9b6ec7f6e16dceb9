// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/time.h"
#include "gnn/search/rollout_start.h"
#include "policies/placement/decision_point.h"
#include "scheduling/policy.h"
#include "workload/work_progress.h"

namespace starling {

/// A decision about one waiting job that is forced on a roll-out before its policy decides.
struct FirstDecision {
  JobId job;
  /// Nothing: the job may not start at this instant, while everybody else may.
  std::optional<Placement> where;
};
/// Of that option of the point; going to another partition is not starting here.
[[nodiscard]] FirstDecision first_decision(const DecisionPoint& point, std::size_t option);

/// Where a roll-out ends before its last job does.
struct RolloutLimits {
  double cost_s = std::numeric_limits<double>::infinity();  ///< it costs more than that: infinity
  std::uint64_t events = std::numeric_limits<std::uint64_t>::max();
  Duration horizon = Duration::max();  ///< after its start
};

struct RolloutResult {
  double cost_s = 0;
  std::uint64_t events = 0;  ///< starts, ends and arrivals
  bool complete = false;     ///< every job has ended; else the rest is estimated
};

/// Plays one partition forward from a RolloutStart: jobs start as a policy says, run at the speeds
/// of a model, slow one another down and end; no messages, no journal, no failures. At one instant
/// departures come first, then arrivals, then the policy is asked once.
///
/// The cost is the job completion time that remains: over all jobs of the start and all arrivals,
/// the seconds from the start or its arrival until the job ends. Where a limit stops it early, a
/// running job counts with what it needs at its present speed, and a waiting one as if those ahead
/// of it had the whole partition in turn; so branches from one start that end at one horizon
/// compare. Jobs that are never started count until nothing else happens.
///
/// Deterministic: same start, decisions and policy state, same cost. Keeps its memory between
/// roll-outs, so one object per thread should serve them all. Not to be shared among threads.
class Rollout {
 public:
  /// The forced decisions in order, then the policy, which should know nothing yet. Infinity if a
  /// forced decision cannot be: the job does not wait, or there is no room.
  RolloutResult run(const RolloutStart& start, std::span<const FirstDecision> first, Policy& policy,
                    const RolloutLimits& limits = {});
  /// Of the last roll-out, by row of the start: when the job ended; kNever: it did not.
  [[nodiscard]] std::span<const Instant> ended() const noexcept { return ended_; }

 private:
  struct Running {
    WorkProgress work;  // at rate 0 until its speed is known
    Instant started;
    Duration served{0};  // at `started`
    std::uint32_t version = 0;
    Placement gpus;
    std::vector<std::uint32_t> servers;
  };
  struct End {
    Instant at;
    std::uint32_t row = 0, version = 0;
    /// The first end is the greatest, for heaps.
    friend bool operator<(const End& a, const End& b) {
      return a.at != b.at ? a.at > b.at : a.row > b.row;
    }
  };
  void begin(const RolloutStart& start);
  [[nodiscard]] bool force(std::span<const FirstDecision> first);
  void release(std::span<const FirstDecision> first);
  [[nodiscard]] Instant next();
  void depart();
  void arrive();
  void decide(Policy& policy, TriggerKind kind);
  [[nodiscard]] bool start_job(JobId job, const Placement& placement);
  void occupy(std::uint32_t row, const Placement& placement);
  void settle(std::uint32_t row);
  void rerate(std::uint32_t row);
  [[nodiscard]] double rate(std::uint32_t row);
  [[nodiscard]] const std::vector<std::uint32_t>& beside(std::uint32_t row);
  [[nodiscard]] double rest_s() const;

  const RolloutStart* start_ = nullptr;
  std::optional<Occupancy> gpus_;
  std::vector<Running> jobs_;   // by row
  std::vector<Instant> ended_;  // by row
  std::vector<JobView> waiting_, running_;
  std::vector<std::uint32_t> waiting_rows_, running_rows_;
  std::vector<std::vector<std::uint32_t>> on_server_;  // rows
  std::vector<End> ends_;                              // a heap; outdated ones stay in it
  std::uint32_t next_arrival_ = 0;                     // a row
  Instant now_;
  std::uint64_t events_ = 0;
  std::vector<std::uint64_t> met_;  // by row: the question that met it last
  std::uint64_t question_ = 0;
  std::vector<std::uint32_t> beside_, touched_;
  std::vector<Neighbours> neighbours_;  // [n]: n of them, kept for their memory
  std::vector<SpeedMemo::Who> whos_;
  Rng rng_{0};
};

}  // namespace starling
