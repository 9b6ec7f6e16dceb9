// SPDX-License-Identifier: Apache-2.0
#include "policies/tiresias/ranked.h"

#include <algorithm>
#include <tuple>

#include "scheduling/running_index.h"

namespace starling {

std::vector<Decision> Ranked::decide(const View& view) {
  return queue_.decide(
      view, view.gpus.free_count() == 0 && !any_runs(view),
      {.start = [&](Trial& trial, std::vector<Decision>& out) { start_here(view, trial, out); }});
}

/// `budget`: GPUs to hand out.
void Ranked::list_runners(const View& view, Eviction& eviction, std::uint32_t& budget) {
  runners_.clear();
  const auto list = [&](const JobView& job) {
    if (!lies_here(view.gpus, job.placement)) return;
    if (job.spec->no_requeue) return;  // stays where it is
    if (job.blocked) {
      eviction.leaves(job);
      return;
    }
    runners_.push_back({job.spec->priority, rank_(job), &job});
    budget += static_cast<std::uint32_t>(job.placement.size());
  };
  if (view.ends != nullptr) {
    view.ends->each(view.now, list);
  } else {
    for (const JobView& job : view.running) list(job);
  }
  budget += eviction.soon().free_count();
  std::stable_sort(runners_.begin(), runners_.end(), [](const Runner& a, const Runner& b) {
    return std::tie(b.priority, a.rank) < std::tie(a.priority, b.rank);
  });
}

void Ranked::choose(std::uint32_t budget, bool strict, std::vector<std::size_t>& newcomers) {
  const QueueIndex& index = queue_.index();
  const QueueMarks& taken = queue_.taken();
  const auto queue = index.queue();
  auto runner = runners_.begin();
  std::size_t waiting = 0;
  while (runner != runners_.end() || waiting < queue.size()) {
    const bool running_first =
        waiting == queue.size() ||
        (runner != runners_.end() && std::tie(queue[waiting].priority, runner->rank) <=
                                         std::tie(runner->priority, queue[waiting].key));
    if (running_first) {
      const auto size = static_cast<std::uint32_t>(runner->job->placement.size());
      if (size <= budget) {
        runner->chosen = true;
        budget -= size;
      }
      ++runner;
      continue;
    }
    const std::size_t i = waiting++;
    if (taken[i] || index.job(queue[i]).blocked) continue;
    if (queue[i].gpus <= budget) {
      budget -= queue[i].gpus;
      newcomers.push_back(i);
    } else if (strict) {
      waiting = queue.size();
    }
  }
}

/// The common case, that everybody who waits has room beside all who run, without a look at those.
/// False: it is not so, and nothing was started.
bool Ranked::start_all(Trial& trial, std::vector<Decision>& out) {
  const QueueIndex& index = queue_.index();
  QueueMarks& taken = queue_.taken();
  if (index.total_gpus() > trial.free_count()) return false;
  const auto queue = index.queue();
  std::vector<Start> starts;
  std::vector<Demand> demands;
  const auto undo = [&] {
    for (std::size_t i = 0; i < starts.size(); ++i)
      trial.give_back(starts[i].placement, demands[i]);
    return false;
  };
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const JobView& job = index.job(queue[i]);
    if (taken[i] || job.blocked) continue;
    auto place = queue_.find_place(trial.gpus(), *job.spec);
    if (!place) return undo();
    demands.push_back(demand_of(*job.spec));
    trial.take(*place, demands.back());
    starts.push_back({job.spec->id, std::move(*place)});
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (!index.job(queue[i]).blocked) taken.mark(i);
  }
  for (Start& start : starts) out.emplace_back(std::move(start));
  return true;
}

void Ranked::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  if (start_all(trial, out)) return;
  const QueueIndex& index = queue_.index();
  QueueMarks& taken = queue_.taken();
  Eviction eviction(soon_.of(view.gpus));
  const Occupancy& soon = eviction.soon();
  std::uint32_t budget = 0;
  list_runners(view, eviction, budget);
  std::vector<std::size_t> newcomers;
  choose(budget, queue_.options().strict, newcomers);
  if (newcomers.empty()) return;

  // Newcomers go where no job has to stop as long as that lasts, then onto those that were not
  // chosen, last in order first.
  auto victim = runners_.rbegin();
  for (const std::size_t i : newcomers) {
    const JobView& job = index.job(index.queue()[i]);
    std::optional<Placement> place = queue_.find_place(soon, *job.spec);
    while (!place && victim != runners_.rend()) {
      if (!victim->chosen) {
        eviction.offer(*victim->job);
        if (soon.free_count() >= job.spec->gpus()) place = queue_.find_place(soon, *job.spec);
      }
      ++victim;
    }
    if (!place) continue;
    const Demand each = demand_of(*job.spec);
    eviction.promise(*place, each);
    taken.mark(i);
    start_or_keep(trial, job.spec->id, std::move(*place), each, out);
  }
  eviction.settle(out);
}

}  // namespace starling
