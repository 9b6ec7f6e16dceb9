// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "policies/testing/test_state.h"

namespace starling {

/// For tests and benchmarks: one partition whose jobs do not end by themselves. What the policy
/// decides is done at once; what it forwards is gone.
struct PolicyRig {
  PolicyRig(const Topology& of, std::unique_ptr<Policy> decider)
      : PolicyRig(of, std::move(decider), {0, of.server_count()}) {}
  /// Of those servers; `others` may have the rest.
  PolicyRig(const Topology& of, std::unique_ptr<Policy> decider, IndexRange mine,
            std::uint32_t jobs_on_a_gpu = 1)
      : topology(of), gpus(topology, mine, jobs_on_a_gpu), policy(std::move(decider)) {}

  JobView& submit(JobSpec spec) {
    specs.push_back(std::move(spec));
    specs.back().id = JobId{1, specs.size()};
    JobView view;
    view.spec = &specs.back();
    view.submitted = now;
    view.order = specs.size();
    jobs.push_back(view);
    return jobs.back();
  }
  void end(std::size_t i, JobFate fate = JobFate::finished) {
    const JobView& job = jobs[i];
    if (!job.placement.empty()) gpus.give_back(job.placement, demand_of(*job.spec));
    departed.push_back({std::make_shared<const JobSpec>(*job.spec), fate, job.order, job.submitted,
                        now, job.served});
    jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  /// Time goes by, in which those run that run.
  void pass(Duration time) {
    now += time;
    for (JobView& job : jobs) {
      if (!job.placement.empty()) job.served += time;
    }
  }
  /// The next round; calls again until it has nothing more to say. The decisions of all calls.
  std::vector<Decision> round(Duration after = std::chrono::seconds(60)) {
    now += after;
    return settle(TriggerKind::round);
  }
  std::vector<Decision> settle(TriggerKind kind) {
    std::vector<Decision> all;
    for (;; kind = TriggerKind::departure) {
      const auto made = decide(kind);
      if (made.empty()) return all;
      for (const Decision& decision : made) apply(decision);
      all.insert(all.end(), made.begin(), made.end());
    }
  }
  std::vector<Decision> decide(TriggerKind kind) {
    View view = look();
    view.others = others;
    view.departed = departed;
    auto made = policy->decide(view, {kind}, rng);
    departed.clear();
    return made;
  }
  /// All that the policy says of it, where it is one of `jobs`.
  std::vector<std::string> explain(JobId id) {
    const View view = look();
    std::vector<std::string> lines = policy->explain(id);
    for (const auto side : {view.waiting, view.running}) {
      for (const JobView& job : side) {
        if (job.spec->id != id) continue;
        for (std::string& line : policy->explain_now(view, job)) lines.push_back(std::move(line));
      }
    }
    return lines;
  }
  void apply(const Decision& decision) {
    if (const auto* start = std::get_if<Start>(&decision))
      move(start->job, start->placement, start->allocation);
    if (const auto* resize = std::get_if<Resize>(&decision))
      move(resize->job, resize->placement, resize->allocation);
    if (const auto* preempt = std::get_if<Preempt>(&decision)) move(preempt->job, {}, {});
    if (const auto* forward = std::get_if<Forward>(&decision)) {
      const auto named = [&](const JobView& job) { return job.spec->id == forward->job; };
      end(static_cast<std::size_t>(std::ranges::find_if(jobs, named) - jobs.begin()),
          JobFate::moved);
    }
  }
  void move(JobId id, const Placement& to, const Allocation& how) {
    const auto job = std::ranges::find_if(jobs, [&](const JobView& j) { return j.spec->id == id; });
    const Demand each = demand_of(*job->spec);
    if (!job->placement.empty()) gpus.give_back(job->placement, each);
    gpus.take(to, each);
    job->placement = to;
    job->allocation = how;
  }

  /// Which other partitions there are, and who has left, is not in it. Valid until the next call.
  View look() {
    waiting.clear(), running.clear();
    for (const JobView& job : jobs) (job.placement.empty() ? waiting : running).push_back(job);
    return {topology, gpus, waiting, running, {}, *speed, now, AgentId{0}};
  }

  Topology topology;
  Occupancy gpus;
  std::unique_ptr<Policy> policy;
  EqualTestSpeed equal;
  const SpeedModel* speed = &equal;
  std::deque<JobSpec> specs;
  std::vector<JobView> jobs, waiting, running;
  std::vector<DepartedJob> departed;  // since the last decide()
  std::vector<RemoteDigest> others;
  Instant now{};
  Rng rng{1};
};

}  // namespace starling
