// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/sizing_policy.h"

#include <algorithm>

namespace starling {

/// Workers, at random; more often few than many, so that several find room at once.
std::uint32_t SizingPolicy::any_size(const JobSpec& job) {
  if (!job.elastic()) return job.workers;
  const std::uint32_t least = std::max(job.min_workers, 1U);
  const std::uint32_t range = job.max_workers - least + 1;
  return least + std::min(rng_.below(range), rng_.below(range));
}

/// In whole workers, of what is free here and of what the job itself has here.
Placement SizingPolicy::some_here(const View& view, const JobView& job, std::uint32_t most) {
  Placement all;
  const IndexRange here = view.gpus.gpus();
  for (std::uint32_t g = here.first; g < here.last; ++g) {
    if (view.gpus.is_free(GpuId{g}) || std::ranges::binary_search(job.placement, GpuId{g}))
      all.emplace_back(g);
  }
  const std::uint32_t worker = std::max(job.spec->gpus_per_worker, 1U);
  const auto room = std::min(static_cast<std::uint32_t>(all.size()), most) / worker;
  const std::uint32_t some = rng_.chance(0.5) ? room : rng_.below(room + 1);
  all.resize(std::size_t{some} * worker);
  return all;
}

void SizingPolicy::size_spreads(const View& view, std::vector<Decision>& decisions) {
  for (Decision& decision : decisions) {
    auto* spread = std::get_if<Spread>(&decision);
    if (spread == nullptr || rng_.chance(0.3)) continue;
    const auto job = std::ranges::find_if(
        view.waiting, [&](const JobView& waits) { return waits.spec->id == spread->job; });
    if (job == view.waiting.end() || !job->spec->elastic()) continue;
    spread->allocation.workers = any_size(*job->spec);
    const std::size_t gpus = std::size_t{spread->allocation.workers} * job->spec->gpus_per_worker;
    if (spread->local.size() > gpus) spread->local.resize(gpus);
    sized_();
  }
}

void SizingPolicy::resize_one(const View& view, std::vector<Decision>& out) {
  const auto jobs = view.running.empty() || rng_.chance(0.3) ? view.waiting : view.running;
  if (jobs.empty()) return;
  const JobView& job = jobs[rng_.below(static_cast<std::uint32_t>(jobs.size()))];
  if (job.blocked) return;
  const JobId id = job.spec->id;
  const std::uint32_t workers = any_size(*job.spec);
  const std::uint32_t gpus = workers * std::max(job.spec->gpus_per_worker, 1U);
  Placement here = some_here(view, job, gpus);
  sized_();
  if (job.placement.empty()) {
    out.emplace_back(Spread{id, std::move(here), std::nullopt, false, {.workers = workers}});
  } else if (rng_.chance(0.1)) {
    out.emplace_back(Preempt{id});
  } else {
    out.emplace_back(Resize{id, std::move(here), {.workers = workers}});
  }
}

std::vector<Decision> SizingPolicy::decide(const View& view, const Trigger& trigger, Rng& rng) {
  std::vector<Decision> decisions = good_->decide(view, trigger, rng);
  if (!active_()) return decisions;
  size_spreads(view, decisions);
  if (view.now < next_) return decisions;
  next_ = later(view.now, from_seconds(seconds(mean_) * rng_.exponential()));
  // Before the others, which would take what is free.
  std::vector<Decision> all;
  resize_one(view, all);
  all.insert(all.end(), decisions.begin(), decisions.end());
  return all;
}

}  // namespace starling
