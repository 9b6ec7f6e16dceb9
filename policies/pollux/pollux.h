// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policies/options.h"
#include "policies/pollux/job_curves.h"
#include "policies/pollux/share_search.h"
#include "policies/pollux/warm_start.h"
#include "policies/queues/rounds.h"

namespace starling {

struct PolluxOptions {
  ShareSearchOptions search;
  Duration round{0};
  double restart_s = 30;  ///< of a job that has not shown what a restart costs it
  bool given = false;     ///< goodput is known before it was measured (JobCurves)
  bool adapts = true;     ///< batches are chosen
};

/// Pollux (OSDI 2021): at each round a genetic search divides all GPUs so that the power mean, with
/// p = -1, of the jobs' speedups is highest; a speedup is a job's goodput over that with its fair
/// share, both by the batch that suits the GPUs best. See share_search.h, job_goodput.h and
/// job_curves.h, which Pollux' own simulated world uses as well (sim/published/pollux).
///
/// Jobs that are not elastic have all their workers or none. A change of the batch alone, which is
/// a restart here, has to be worth more than that costs. Between rounds nothing but the last
/// round's plan is carried out. Jobs of several priorities, which the paper does not have: the more
/// urgent ones divide all GPUs among themselves, and the others what is left. GPU types are not
/// told apart: a job runs on any that it allows. Jobs on servers that are being drained are left
/// alone.
///
/// A round is about at most 1,000 jobs (kMostMembers): the most urgent, of equals those that run
/// before those that wait, then those with the least attained service. Of the others those that
/// wait go on waiting, and those that run are left alone, unless more urgent ones are given their
/// GPUs.
class PolluxPolicy final : public Policy {
 public:
  PolluxPolicy(const PolicyFacts& facts, const PolluxOptions& options);
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override;
  /// When the round began, and the curves.
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override;
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override;
  [[nodiscard]] std::uint64_t learned() const noexcept override {
    return curves_.version() + rounds_.begun();
  }
  void learn() override { curves_.learn(); }

 private:
  struct Member {
    const JobView* job = nullptr;
    KnownGoodput goodput;
    std::uint32_t each = 1;             // GPUs of a replica
    std::uint32_t least = 1, most = 1;  // replicas
    double spent_s = 0, delay_s = 0;    // in restarts so far, and of one
    std::uint32_t fair = 1;             // replicas
    double base = 1;                    // goodput with these
  };
  using Members = std::vector<Member>;
  using WarmStarts = std::map<std::int32_t, WarmStart<JobId>>;  // by priority
  /// What a round did with a job.
  struct Told {
    Instant at;
    std::uint32_t servers = 0, gpus = 0, fair = 1, jobs = 0;
    double speedup = 0, restart_factor = 1;
    bool known = false;
    BatchSplit split;
  };

  [[nodiscard]] Members members_of(const View& view, Occupancy& planned,
                                   std::vector<const JobView*>& outranked);
  [[nodiscard]] Member member_of(const View& view, const JobView& job);
  [[nodiscard]] SharingProblem problem_of(const View& view, std::span<Member> members,
                                          const Occupancy& free) const;
  void plan_round(const View& view, Rng& rng, RoundPlan& plan, std::vector<Decision>& out);
  void place(const View& view, std::span<const Member> members, const SharingProblem& problem,
             const SharePlan& found, Occupancy& planned, RoundPlan& plan,
             std::vector<Decision>& out, std::vector<Decision>& resizes) const;
  [[nodiscard]] std::optional<Allocation> better_batch(const View& view,
                                                       const Member& member) const;
  void tell(const View& view, std::span<const Member> members, const SharingProblem& problem,
            const SharePlan& found);

  PolicyFacts facts_;
  PolluxOptions options_;
  Rounds rounds_;
  JobCurves curves_;
  WarmStarts last_;
  std::map<JobId, Told> told_;  // by the last round
};

}  // namespace starling
