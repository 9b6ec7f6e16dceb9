// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/time.h"
#include "gnn/speed_memo.h"
#include "scheduling/policy.h"

namespace starling {

/// A job that comes later.
struct RolloutArrival {
  Duration after{0};  ///< from the start
  JobSpec spec;       ///< as a policy may see it
  double work_s = 0;  ///< at speed 1
};

/// What a View does not say: how much work there is, and which jobs come. True in training, guessed
/// in search.
struct RolloutFuture {
  /// Seconds of work left at speed 1, of the jobs of View::waiting and View::running in turn.
  std::vector<double> waiting_s, running_s;
  std::vector<double> starting_s = {};  ///< until running ones work, in turn; empty: they do
  /// That policies are told waiting jobs still take, in turn, as if users had said so; empty: what
  /// they said.
  std::vector<double> expected_s = {};
  std::vector<RolloutArrival> arrivals;  ///< by time
};

/// How the world of a roll-out runs.
struct RolloutWorld {
  /// All must outlive the start. What speeds are; null: what policies ask.
  const SpeedModel* speed = nullptr;
  /// In the place of `speed`, and of View::speed for policies: the same, faster.
  const SpeedMemo* speed_memo = nullptr;
  const SpeedMemo* asked_memo = nullptr;
  /// Seconds from start to the first iteration (start_time() of a world). Empty: none.
  std::function<double(const JobSpec&, const JobProfile&, Duration served)> startup_s = {};
};

/// Where roll-outs start: one partition with its jobs, as a View shows it at one instant, and a
/// future. Made once, then read by any number of roll-outs, also from several threads if the speed
/// models may (memos may not). Owns all but the models of speed. Jobs that are blocked stay as they
/// are: waiting ones are left out. GPUs that are taken by no job of View::running stay taken.
class RolloutStart {
 public:
  struct Job {
    JobSpec spec;
    JobProfile profile;
    std::uint64_t hash = 0;  ///< of the profile, as SpeedMemo has it
    std::uint64_t order = 0;
    Instant submitted;  ///< arrivals: when they come
    Duration served{0};
    double work_s = 0;     ///< that is left
    double startup_s = 0;  ///< of running ones: what is left of it
    double scaling = 1;
    Placement placement;                 ///< running ones only
    std::vector<std::uint32_t> servers;  ///< of the partition, counted from its first
    std::uint32_t failed_rounds = 0, forwards = 0;
  };

  /// `view` must have its running jobs, and the future a figure for each.
  RolloutStart(const View& view, RolloutFuture future, const RolloutWorld& world = {});

  /// First those that wait, then those that run, each in the order of the view, then arrivals.
  [[nodiscard]] std::span<const Job> jobs() const noexcept { return jobs_; }
  [[nodiscard]] std::uint32_t waiting() const noexcept { return waiting_; }
  [[nodiscard]] std::uint32_t present() const noexcept { return present_; }
  [[nodiscard]] const Occupancy& gpus() const noexcept { return gpus_; }
  [[nodiscard]] const SpeedModel& world() const noexcept { return *world_; }
  [[nodiscard]] const SpeedMemo* memo() const noexcept { return memo_; }  ///< null: none
  [[nodiscard]] const SpeedModel& asked() const noexcept { return *asked_; }
  [[nodiscard]] Instant now() const noexcept { return now_; }
  [[nodiscard]] AgentId me() const noexcept { return me_; }

  /// Servers of this partition that a placement touches, counted from its first.
  void servers_of(const Placement& placement, std::vector<std::uint32_t>& into) const;
  /// The placement as a policy of this partition sees it.
  [[nodiscard]] JobView view_of(std::uint32_t row) const;

 private:
  void add(const JobView& view, double work_s, const RolloutWorld& world);

  Occupancy gpus_;
  const SpeedModel* asked_;
  const SpeedModel* world_ = nullptr;
  const SpeedMemo* memo_ = nullptr;
  Instant now_;
  AgentId me_;
  std::vector<Job> jobs_;
  std::uint32_t waiting_ = 0, present_ = 0;
};

}  // namespace starling
