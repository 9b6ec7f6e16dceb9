// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/scenario/job_draw.h"

#include <algorithm>

#include "launch/chaos/scenario/plan.h"

namespace starling::chaos_live {
namespace {

constexpr std::uint32_t kMostWorkers = 4;

std::uint32_t executors_that_stay(const ChaosScenario& scenario) {
  std::uint32_t lost = 0;
  for (const PlannedFault& fault : plan_of(scenario)) {
    const FaultSpec& spec = scenario.faults[fault.spec];
    if (spec.kind != LiveFaultKind::lose) continue;
    lost += spec.who[0].all ? scenario.flock.executors : spec.who[0].count;
  }
  return lost < scenario.flock.executors ? scenario.flock.executors - lost : 1;
}

}  // namespace

JobDraw::JobDraw(const ChaosScenario& scenario)
    : scenario_(scenario),
      rng_(Rng(scenario.seed).fork(0x10ad)),
      executors_(executors_that_stay(scenario)) {}

DrawnJob JobDraw::next() {
  const LoadSpec& load = scenario_.load;
  const auto one_of = [this](const auto& all) {
    return all[rng_.below(static_cast<std::uint32_t>(all.size()))];
  };
  DrawnJob job;
  job.gpus = one_of(load.gpus);
  const std::uint32_t room = executors_ * (scenario_.flock.gpus / job.gpus);
  if (rng_.chance(load.gangs)) job.workers = std::min(2 + rng_.below(kMostWorkers - 1), room);
  job.manner = one_of(load.manners);
  job.seconds = load.seconds.draw(rng_);
  job.home = rng_.below(scenario_.flock.agents);
  const auto after = [this](double share, double mean_s) {
    return rng_.chance(share) ? std::optional(mean_s * rng_.exponential()) : std::nullopt;
  };
  job.again_after = after(load.resubmit, 2);
  job.cancel_after = after(load.cancel, 0.5);
  job.ask_after = after(load.query, 3);
  return job;
}

}  // namespace starling::chaos_live
