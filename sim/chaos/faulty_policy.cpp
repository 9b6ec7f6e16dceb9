// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/faulty_policy.h"

#include <algorithm>
#include <utility>

namespace starling {

/// GPUs that exist, free or not; as garbage also such that do not, twice, and in any order.
Placement FaultyPolicy::any_gpus(const View& view, bool garbage) {
  Placement gpus;
  const IndexRange here = view.gpus.gpus();
  for (std::uint32_t n = rng_.below(10); n > 0; --n) {
    gpus.emplace_back(garbage ? rng_.chance(0.1) ? rng_.next()
                                                 : rng_.below(2 * view.topology.gpu_count())
                              : here.first + rng_.below(here.size()));
  }
  if (garbage) return gpus;
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  return gpus;
}

/// Mostly one that can be had.
Allocation FaultyPolicy::any_allocation() {
  Allocation how;
  if (rng_.chance(0.5)) return how;
  how.servers = rng_.below(4);
  how.local_batch = rng_.chance(0.05) ? rng_.next() : rng_.below(512);
  how.accumulation = rng_.below(3);
  how.averaged = rng_.chance(0.3);
  if (rng_.chance(0.1)) how.workers = rng_.below(8);
  return how;
}

Decision FaultyPolicy::any_decision(const View& view) {
  const bool garbage = rng_.chance(0.5);
  JobId job{rng_.next(), rng_.next()};
  const auto jobs = rng_.chance(0.5) && !view.running.empty() ? view.running : view.waiting;
  if (!jobs.empty() && !rng_.chance(0.1)) {
    const JobView& known = jobs[rng_.below(static_cast<std::uint32_t>(jobs.size()))];
    if (known.spec != nullptr) job = known.spec->id;
  }
  const Placement gpus = any_gpus(view, garbage);
  // A decision to stop is obeyed, so it comes once a second: a storm is not the point.
  const bool may_stop =
      stopped_at_ == Instant::min() || view.now - stopped_at_ >= std::chrono::seconds(1);
  switch (rng_.below(may_stop ? 5 : 3)) {
    case 0:
      return Start{job, gpus, any_allocation()};
    case 1:
      return Forward{job, AgentId{rng_.chance(0.2) ? rng_.next() : rng_.below(6)}};
    case 2:
      if (rng_.chance(0.5)) return Spread{job, {}, std::nullopt, true, any_allocation()};
      return Spread{job, gpus, std::nullopt, false, any_allocation()};
    case 3:
      stopped_at_ = view.now;
      return Resize{job, gpus, any_allocation()};
    default:
      stopped_at_ = view.now;
      return Preempt{job};
  }
}

std::vector<Decision> FaultyPolicy::decide(const View& view, const Trigger& trigger, Rng& rng) {
  std::vector<Decision> good = good_->decide(view, trigger, rng);
  if (!active_() || !rng_.chance(bad_)) return good;
  if (slow_ && rng_.chance(0.1)) stall_(from_seconds(60 * rng_.uniform() * rng_.uniform()));
  for (Decision& decision : good) {
    if (auto* start = std::get_if<Start>(&decision)) start->allocation = any_allocation();
    if (auto* spread = std::get_if<Spread>(&decision)) spread->allocation = any_allocation();
  }
  switch (rng_.below(5)) {
    case 0:
      return {};
    case 1:
      return std::exchange(old_, good);
    case 2:
      for (std::size_t i = good.size(); i > 1; --i)
        std::swap(good[i - 1], good[rng_.below(static_cast<std::uint32_t>(i))]);
      return good;
    default:
      for (std::uint32_t n = 1 + rng_.below(8); n > 0; --n) {
        const auto at = rng_.below(static_cast<std::uint32_t>(good.size() + 1));
        good.insert(good.begin() + at, any_decision(view));
      }
      return good;
  }
}

Placement FaultyPolicy::offer(const View& view, std::uint32_t want, std::uint32_t gpus_per_worker,
                              Demand each) {
  if (active_() && rng_.chance(bad_)) return any_gpus(view, rng_.chance(0.5));
  return good_->offer(view, want, gpus_per_worker, each);
}

/// Any job that runs, with the GPUs that it has or with any.
std::vector<CoTenant> FaultyPolicy::co_tenants(const View& view, const JobSpec& gang,
                                               std::size_t most) {
  if (!active_() || !rng_.chance(bad_)) return good_->co_tenants(view, gang, most);
  std::vector<CoTenant> out;
  for (const JobView& job : view.running) {
    const bool garbage = rng_.chance(0.2);
    out.push_back({job.spec->id, garbage ? any_gpus(view, rng_.chance(0.5)) : job.placement,
                   rng_.uniform() * 2 - 0.5, rng_.uniform() * 10 - 1});
  }
  return out;
}

/// Any of them, any number of times, and some that there are not.
std::vector<std::size_t> FaultyPolicy::choose_tenants(const View& view, const JobView& gang,
                                                      std::uint32_t free,
                                                      std::span<const CoTenant> offered) {
  if (!active_() || !rng_.chance(bad_)) return good_->choose_tenants(view, gang, free, offered);
  std::vector<std::size_t> out;
  for (std::uint32_t n = rng_.below(20); n > 0; --n)
    out.push_back(rng_.below(static_cast<std::uint32_t>(offered.size() + 2)));
  return out;
}

}  // namespace starling
