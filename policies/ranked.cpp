#include "policies/ranked.h"

#include <algorithm>

namespace starling {
/// `soon`: the partition once everybody who is stopping has stopped. `budget`: GPUs to hand out.
void RankedPolicy::list_runners(const View& view, Occupancy& soon, std::uint32_t& budget) {
  runners_.clear();
  for (const JobView& job : view.running) {
    if (!lies_here(view, job.placement)) continue;
    if (job.blocked) {
      soon.give_back(job.placement);  // on its way out
      continue;
    }
    runners_.push_back({rank(job), &job});
    budget += static_cast<std::uint32_t>(job.placement.size());
  }
  budget += soon.free_count();
  std::stable_sort(runners_.begin(), runners_.end(),
                   [](const Runner& a, const Runner& b) { return a.rank < b.rank; });
}

void RankedPolicy::choose(std::uint32_t budget, bool strict, std::vector<std::size_t>& newcomers) {
  const auto queue = index_.queue();
  auto runner = runners_.begin();
  std::size_t waiting = 0;
  while (runner != runners_.end() || waiting < queue.size()) {
    const bool running_first =
        waiting == queue.size() || (runner != runners_.end() && runner->rank <= queue[waiting].key);
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
    if (taken_[i] || index_.job(queue[i]).blocked) continue;
    if (queue[i].gpus <= budget) {
      budget -= queue[i].gpus;
      newcomers.push_back(i);
    } else if (strict) {
      waiting = queue.size();
    }
  }
}

void RankedPolicy::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  Occupancy soon = view.gpus;
  std::uint32_t budget = 0;
  list_runners(view, soon, budget);
  std::vector<std::size_t> newcomers;
  choose(budget, options().strict, newcomers);
  if (newcomers.empty()) return;

  // Newcomers go where nobody has to stop as long as that lasts, then onto those who were not
  // chosen, last in order first.
  auto victim = runners_.rbegin();
  std::vector<const JobView*> offered;  // given back to `soon`, in the order of giving
  for (const std::size_t i : newcomers) {
    const JobView& job = index_.job(index_.queue()[i]);
    std::optional<Placement> place = find_place(view, soon, *job.spec);
    while (!place && victim != runners_.rend()) {
      if (!victim->chosen) {
        soon.give_back(victim->job->placement);
        offered.push_back(victim->job);
        if (soon.free_count() >= job.spec->gpus()) place = find_place(view, soon, *job.spec);
      }
      ++victim;
    }
    if (!place) continue;
    soon.take(*place);
    taken_[i] = true;
    const bool free_now = all_free(trial.gpus(), *place);
    if (free_now) {
      trial.take(*place);
      out.emplace_back(Start{job.spec->id, std::move(*place)});
      continue;
    }
    Placement promised;
    for (const GpuId gpu : *place) {
      if (trial.gpus().is_free(gpu)) promised.push_back(gpu);
    }
    if (!promised.empty()) trial.take(std::move(promised));
  }
  for (const JobView* job : offered) {
    const bool needed = std::any_of(job->placement.begin(), job->placement.end(),
                                    [&](GpuId gpu) { return !soon.is_free(gpu); });
    if (needed) out.emplace_back(Preempt{job->spec->id});
  }
}

}  // namespace starling
