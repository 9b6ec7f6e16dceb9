// SPDX-License-Identifier: Apache-2.0
#include "sim/published/pollux/pollux_there.h"

#include <algorithm>
#include <cmath>

#include "policies/parts/restart.h"

namespace starling {
namespace {

constexpr std::uint32_t kMostReplicas = 64;
// The batch of one application that its authors did not let Pollux choose, nor scale out.
constexpr double kFixedBatch = 32'768;
bool is_fixed(const PolluxJob& job) { return job.application().name() == "ncf"; }

}  // namespace

void PolluxThere::prepare(std::span<PolluxJob> jobs) {
  for (PolluxJob& job : jobs) {
    known_[&job].goodput.limits = job.application().limits();
    job.adapt([this, &job](std::uint32_t nodes,
                           std::uint32_t replicas) { return choose(job, nodes, replicas); },
              [this, &job](const ProfiledStep& step) { measure(job, step); });
  }
}

BatchSplit PolluxThere::choose(const PolluxJob& job, std::uint32_t nodes,
                               std::uint32_t replicas) const {
  const BatchLimits& limits = job.application().limits();
  if (is_fixed(job)) return split_batch(kFixedBatch, replicas, limits);
  const Known& known = known_.at(&job);
  if (!known.fit)
    return split_batch(std::max(limits.own, limits.least_local * replicas), replicas, limits);
  return known.goodput.at(nodes, replicas).split;
}

void PolluxThere::measure(const PolluxJob& job, const ProfiledStep& step) {
  Known& known = known_.at(&job);
  known.goodput.phi =
      noise_scale(step.gradient.variance, step.gradient.square, job.application().limits().own);
  known.most_replicas = std::max(known.most_replicas, step.replicas);
  const auto local = static_cast<std::uint32_t>(step.split.local_batch);
  if (!known.profile.insert({step.nodes, step.replicas, local}).second) return;
  // What computing takes is a step of one replica. One replica's own exchange with itself is
  // counted half, as a fit to both with none in its form would have it.
  const StepShape alone{step.split.local_batch, 0, 1, 1, Tier::server};
  const double grad_s =
      step.replicas == 1 ? std::sqrt(step.step.grad_s() * step.step.step_s) : step.step.grad_s();
  const double alone_pace = step.split.local_batch / grad_s;
  if (!known.fit) {
    known.fit.emplace(alone);
    known.unit = alone_pace;
  }
  known.fit->add(alone, 1, alone_pace / known.unit);
  if (step.replicas > 1) {
    const StepShape shape{step.split.local_batch, 0, step.replicas, step.nodes,
                          step.nodes > 1 ? Tier::rack : Tier::server};
    known.fit->add(shape, 1, shape.batch() / step.step.step_s / known.unit);
  }
  known.fit->fit();
  known.goodput.time = known.fit->time();
}

SharingProblem PolluxThere::problem_of(std::int64_t now_s,
                                       const std::vector<const PolluxJob*>& jobs) const {
  SharingProblem problem;
  problem.node_gpus.assign(cluster_.nodes, cluster_.gpus_per_node);
  for (const PolluxJob* job : jobs) {
    const Known& known = known_.at(job);
    SharingJob one;
    one.most = is_fixed(*job) ? 1
                              : std::min({std::max(2 * known.most_replicas, 1U), kMostReplicas,
                                          known.goodput.most_gpus()});
    constexpr double kDelay_s = PolluxJob::kRestart_s;
    one.restart_factor = restart_factor(static_cast<double>(now_s - job->asked().submit_s),
                                        job->restarts() * kDelay_s, kDelay_s);
    problem.jobs.push_back(one);
    std::vector<NodeShare> row;
    for (const std::uint32_t node : job->nodes()) {
      if (row.empty() || row.back().node != node) row.push_back({node, 0});
      ++row.back().replicas;
    }
    problem.now.add(row);
  }
  const std::uint32_t fair = fair_replicas(problem.gpus(), 1, jobs.size());
  std::vector<double> base;
  for (const PolluxJob* job : jobs) {
    const Known& known = known_.at(job);
    base.push_back(
        known.fit ? known.goodput.at(1, std::min(fair, known.goodput.most_gpus())).goodput : fair);
  }
  problem.speedup = [this, jobs, base](std::size_t i, std::uint32_t nodes, std::uint32_t replicas) {
    const Known& known = known_.at(jobs[i]);
    return (known.fit ? known.goodput.at(nodes, replicas).goodput : replicas) / base[i];
  };
  return problem;
}

std::vector<NodeList> PolluxThere::decide(std::int64_t now_s,
                                          std::span<const PolluxJob* const> jobs) {
  std::vector<const PolluxJob*> order(jobs.begin(), jobs.end());
  std::stable_sort(order.begin(), order.end(), [](const PolluxJob* a, const PolluxJob* b) {
    return std::pair(a->gpu_seconds(), a->asked().submit_s) <
           std::pair(b->gpu_seconds(), b->asked().submit_s);
  });
  ShareSearchAnswer answer =
      search_shares(problem_of(now_s, order), last_.plans(order), search_, rng_);
  std::map<const PolluxJob*, NodeList> lists;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const NodeShare& share : answer.best.of(i))
      lists[order[i]].insert(lists[order[i]].end(), share.replicas, share.node);
  }
  last_.remember(order, std::move(answer.front));
  std::vector<NodeList> out;
  for (const PolluxJob* job : jobs) out.push_back(lists[job]);
  return out;
}

}  // namespace starling
