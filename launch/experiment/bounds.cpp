// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/bounds.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <tuple>

#include "interference/models.h"
#include "sim/bound/bound_problem.h"

namespace starling {

std::string refuses_bound(const Experiment& experiment) {
  if (experiment.physics == PhysicsKind::full && experiment.straggler_sigma == 0 &&
      experiment.links == NetworkKind::even)
    return {};
  return "bound: yes needs physics: full, with or without goodput; under stragglers, flows, and "
         "physics of other kinds it is not known how fast a job can be at most";
}

Result<double> pair_bound(const Experiment& experiment, const Inputs& inputs,
                          const RunPoint& point) {
  const Topology& topology = inputs.topologies[point.topology_index].front();
  const auto jobs = jobs_of(experiment, inputs, point);
  if (!jobs) return jobs.error();
  const auto physics = make_full_physics(topology, {0, experiment.contention, experiment.goodput});
  return dual_bound(bound_problem(topology, jobs.value(), *physics));
}

Status find_bounds(const Experiment& experiment, const Inputs& inputs, std::size_t threads,
                   std::vector<RunPoint>& points) {
  using Key = std::tuple<std::uint32_t, std::uint32_t, double, std::uint64_t>;
  const auto key_of = [](const RunPoint& point) {
    return Key{point.topology_index, point.workload_index, point.load, point.seed};
  };
  std::map<Key, std::size_t> index;
  std::vector<const RunPoint*> first;
  for (const RunPoint& point : points) {
    if (index.try_emplace(key_of(point), first.size()).second) first.push_back(&point);
  }
  std::vector<Result<double>> found(first.size(), Result<double>(0.0));
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> pool;
    for (std::size_t i = 0; i < std::min(std::max<std::size_t>(threads, 1), first.size()); ++i) {
      pool.emplace_back([&] {
        for (std::size_t at = next++; at < first.size(); at = next++)
          found[at] = pair_bound(experiment, inputs, *first[at]);
      });
    }
  }
  for (const auto& bound : found) {
    if (!bound) return bound.error();
  }
  for (RunPoint& point : points) point.bound_jct_s = found[index.at(key_of(point))].value();
  return done();
}

}  // namespace starling
