// SPDX-License-Identifier: Apache-2.0
#include "launch/learn/dl2_world.h"

#include <algorithm>
#include <set>

#include "launch/experiment/prepare.h"
#include "policies/dl2/dl2.h"

namespace starling {
namespace {

constexpr std::uint64_t kTypesFrom = 8;  // draws

}  // namespace

Result<Dl2World> Dl2World::make(Experiment experiment) {
  if (!experiment.workloads.front().file.empty()) {
    return {Errc::invalid, "workload " + experiment.workloads.front().name +
                               " is a file's; training draws jobs anew, so it needs one of "
                               "'generate', such as dl2-like"};
  }
  auto inputs = open_inputs(experiment);
  if (!inputs) return inputs.error();
  Dl2World world(std::move(experiment), std::move(inputs).value());
  world.slot_ = kDl2Slot;
  const auto drawn = world.jobs_of(world.largest_seed() + 1);
  if (!drawn) return drawn.error();
  const auto chooses = [](const TraceJob& job) {
    return job.spec.max_workers > std::max(job.spec.min_workers, 1U) ||
           job.spec.run.max_servers > 0;
  };
  if (std::ranges::none_of(drawn.value().jobs, chooses)) {
    return {Errc::invalid, "no job of workload " + world.experiment_.workloads.front().name +
                               " may run with another number of workers or parameter servers, so "
                               "there is nothing to learn; give jobs that may, such as dl2-like's"};
  }
  return world;
}

Result<Trace> Dl2World::jobs_of(std::uint64_t seed) const {
  return prepare_jobs(inputs_.workloads.front(), experiment_.workloads.front(),
                      experiment_.topologies.front(), inputs_.topologies.front().front(),
                      experiment_.loads.empty() ? 0 : experiment_.loads.front(), seed,
                      experiment_.physics);
}

Result<std::vector<std::string>> Dl2World::types(std::uint64_t first_seed) const {
  std::set<std::string> models;
  for (std::uint64_t seed = first_seed; seed < first_seed + kTypesFrom; ++seed) {
    const auto jobs = jobs_of(seed);
    if (!jobs) return jobs.error();
    for (const TraceJob& job : jobs.value().jobs) models.insert(job.spec.model);
  }
  return std::vector<std::string>{models.begin(), models.end()};
}

std::uint64_t Dl2World::largest_seed() const {
  return experiment_.seeds.empty() ? 0 : *std::ranges::max_element(experiment_.seeds);
}

Result<RunResult> Dl2World::run(std::uint64_t seed, std::uint32_t agents,
                                const std::function<Dl2Division::Parts()>& parts) const {
  const auto jobs = jobs_of(seed);
  if (!jobs) return jobs.error();
  PolicyRegistry registry;
  registry.add(dl2_facts(), [&](OptionReader&) -> Result<std::unique_ptr<Policy>> {
    return make_dl2(slot_, parts());
  });
  SimOptions options;
  options.policy = "dl2";
  options.agents = agents;
  options.seed = seed;
  options.physics = experiment_.physics;
  options.straggler_sigma = experiment_.straggler_sigma;
  options.contention = experiment_.contention;
  options.goodput = experiment_.goodput;
  options.links = experiment_.links;
  options.speed = experiment_.speed;
  options.durations = experiment_.policies.front().durations;
  options.network = experiment_.faults.front().network;
  return simulate(inputs_.topologies.front().front(), jobs.value(), registry, options);
}

}  // namespace starling
