// SPDX-License-Identifier: Apache-2.0
// What a round of Sia's policy is about: what may be given to which job, and what there is.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "policies/parts/evict.h"
#include "policies/parts/restart.h"
#include "policies/sia/sia.h"

namespace starling {
namespace {

bool one_type(const Topology& topology, const Placement& placement) {
  return std::ranges::all_of(placement, [&](GpuId gpu) {
    return topology.type_of(gpu) == topology.type_of(placement.front());
  });
}

bool goes_before(const JobView* a, const JobView* b) {
  return std::tie(b->spec->priority, a->submitted, a->order) <
         std::tie(a->spec->priority, b->submitted, b->order);
}

/// `running` by whose row matters most, of which those beyond the last row keep what they have:
/// first who is less urgent than `priority` and may have to go for it, of each GPU type as many,
/// the least urgent first; then the others, the most urgent first.
void sort_for_rows(const Topology& topology, std::int32_t priority,
                   std::vector<const JobView*>& running) {
  std::ranges::sort(running, goes_before);
  const auto less_urgent =
      std::stable_partition(running.begin(), running.end(),
                            [&](const JobView* job) { return job->spec->priority >= priority; });
  std::map<GpuTypeId, std::size_t> of_type;
  std::vector<std::pair<std::size_t, const JobView*>> ranked;
  for (auto job = running.end(); job != less_urgent;) {
    --job;
    ranked.emplace_back(of_type[topology.type_of((*job)->placement.front())]++, *job);
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  running.erase(less_urgent, running.end());
  std::vector<const JobView*> sorted;
  sorted.reserve(ranked.size());
  for (const auto& [rank, job] : ranked) sorted.push_back(job);
  running.insert(running.begin(), sorted.begin(), sorted.end());
}

}  // namespace

/// It runs on one type of this partition, has started, and nothing of it is going out of service.
bool SiaPolicy::may_change(const View& view, const JobView& job) const {
  if (job.blocked || !lies_here(view.gpus, job.placement)) return false;
  if (!one_type(view.topology, job.placement)) return false;
  if (std::ranges::any_of(job.placement, [&](GpuId gpu) { return view.gpus.is_blocked(gpu); }))
    return false;
  return seconds(view.now - known_.at(job.spec->id).since) >=
         restart_cost_s(*job.spec, sia_.restart_s);
}

/// Those that the round may give GPUs, in their order; what they run on is given back to
/// `planned`.
std::vector<const JobView*> SiaPolicy::members_of(const View& view, Occupancy& planned) const {
  std::vector<const JobView*> running, waiting;
  for (const JobView& job : view.running) {
    if (may_change(view, job)) running.push_back(&job);
  }
  for (const JobView& job : view.waiting) {
    if (!job.blocked) waiting.push_back(&job);
  }
  std::ranges::sort(waiting, goes_before);
  const std::size_t beside = kMostRows - std::min(running.size(), kMostRows);
  waiting.resize(std::min(waiting.size(), std::max(beside, kRowsOfWaiting)));
  if (running.size() > kMostRows - waiting.size()) {
    const auto lowest = std::numeric_limits<std::int32_t>::min();
    const std::int32_t most_urgent = waiting.empty() ? lowest : waiting.front()->spec->priority;
    sort_for_rows(view.topology, most_urgent, running);
    running.resize(kMostRows - waiting.size());
  }
  for (const JobView* job : running) planned.give_back(job->placement, demand_of(*job->spec));
  running.insert(running.end(), waiting.begin(), waiting.end());
  std::ranges::sort(running, goes_before);
  return running;
}

SiaProblem::Row SiaPolicy::row_of(const View& view, const JobView& job) {
  SiaProblem::Row row;
  row.least = least_gpus_of(*job.spec);
  row.each = demand_of(*job.spec);
  row.priority = job.spec->priority;
  const std::uint32_t most = known_.at(job.spec->id).most * 2;
  row.choices = goodputs_.of(view, rounds_.empty(), *job.spec, most);
  if (job.placement.empty()) return row;
  const std::vector<GpuTypeId>& types = goodputs_.types();
  const auto on = std::ranges::find(types, view.topology.type_of(job.placement.front()));
  const auto type = static_cast<std::size_t>(on - types.begin());
  const auto has = static_cast<std::uint32_t>(job.placement.size());
  for (std::size_t c = 0; c < row.choices.size(); ++c) {
    if (row.choices[c].type == type && row.choices[c].gpus == has) row.now = c;
  }
  if (!row.now) {
    row.now = row.choices.size();
    row.choices.push_back({type, has, goodputs_.pace(view, job)});
  }
  row.restart = factor_of(job, view.now);
  return row;
}

/// What is free of each type, on servers that take jobs.
void SiaPolicy::set_capacity(const View& view, const Occupancy& planned,
                             SiaProblem& problem) const {
  constexpr double kMillion = 1e6;
  const std::vector<GpuTypeId>& types = goodputs_.types();
  problem.types.assign(types.size(), {0, {}, true, true});
  for (std::uint32_t s = planned.servers().first; s < planned.servers().last; ++s) {
    const Server& server = view.topology.server(ServerId{s});
    const std::uint32_t free = planned.free_on(ServerId{s});
    if (free == 0) continue;
    const auto at = std::ranges::lower_bound(types, server.gpu_type) - types.begin();
    SiaProblem::Type& type = problem.types[static_cast<std::size_t>(at)];
    const Demand taken = planned.taken_on(ServerId{s});
    type.gpus += free;
    type.beside.cpus += std::llround(server.cpus * kMillion) - taken.cpus;
    type.beside.memory += std::llround(server.memory_gib * kMillion) - taken.memory;
    type.counts_cpus = type.counts_cpus && server.cpus > 0;
    type.counts_memory = type.counts_memory && server.memory_gib > 0;
  }
  for (SiaProblem::Type& type : problem.types)
    type.beside = {std::max<std::int64_t>(type.beside.cpus, 0),
                   std::max<std::int64_t>(type.beside.memory, 0)};
}

}  // namespace starling
