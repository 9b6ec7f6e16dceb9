// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "agents/parts/passing.h"
#include "agents/parts/timer_queue.h"
#include "agents/parts/waiting_list.h"
#include "agents/step/home_quota.h"
#include "agents/step/job.h"
#include "agents/step/other_jobs.h"
#include "agents/step/remembered.h"
#include "agents/step/running_views.h"

namespace starling {

/// What an agent knows as the home of jobs. A job that is not over is in `jobs`, one that is in
/// `remembered`.
struct HomeState {
  explicit HomeState(const PolicyFacts& policy, Incarnation life = Incarnation{1})
      : quota(life, policy.elastic), running(policy) {}

  std::map<JobId, Job> jobs;
  TimerQueue<JobId> timers;
  Remembered remembered;
  std::map<JobId, OtherJob> others;    ///< that jobs here wait for
  std::vector<AgentId> everybody;      ///< of the flock, once that was asked for
  std::map<JobId, ArrayState> arrays;  ///< of which only some tasks may run at once
  std::uint64_t arrivals = 0;          ///< so far, all lives: the next job's order
  std::uint32_t attempts_opened = 0;   ///< in this life
  std::uint32_t running_jobs = 0;      ///< starting, running or draining
  HomeQuota quota;                     ///< what those above and below may have at once
  WaitingList waiting;                 ///< all others but those on offer and those kept back
  std::uint64_t waiting_gpus = 0;      ///< that they want
  RunningViews running;
  std::vector<DepartedJob> departed;  ///< View::departed
  Passing passing;
  Instant next_turn = Instant::min();  ///< when to look for a gang whose turn it is

  [[nodiscard]] std::uint32_t waiting_jobs() const noexcept {
    return static_cast<std::uint32_t>(waiting.size());
  }
  void enter_waiting(Job& job, bool blocked);
  void leave_waiting(Job& job);
  void enter_running(Job& job);
  void leave_running(Job& job, bool waits = false);  ///< it is to run again
  /// Jobs that name no queue are of the fallback of the tree in force from now on, whatever comes
  /// after it: what they use stays in one account. A journal says so by QueuesSet. Those that wait
  /// or are in a round are in no list meanwhile.
  void name_queues();
  void depart(const Job& job, JobFate fate, Instant now);
  static constexpr std::size_t kMostDeparted = 4096;
  void set_timer(const JobId& id, Job& job, Instant when) { timers.move(id, job.timer, when); }
};

}  // namespace starling
