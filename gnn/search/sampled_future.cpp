// SPDX-License-Identifier: Apache-2.0
#include "gnn/search/sampled_future.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/hash.h"

namespace starling {
namespace {

constexpr std::uint64_t kDrawn = ~0ULL;  // JobId::hi of jobs that were made up

}  // namespace

void FutureSampler::observe(const View& view) {
  for (const JobView& job : view.waiting) {
    if (any_came_ && job.order <= last_order_) continue;
    const double gap = any_came_ ? std::max(0.0, seconds(job.submitted - last_came_)) : 0;
    last_order_ = job.order;
    last_came_ = job.submitted;
    any_came_ = true;
    if (came_.size() < kArrivals) {
      came_.push_back({gap, *job.spec});
    } else {
      came_[next_came_] = {gap, *job.spec};
      next_came_ = (next_came_ + 1) % kArrivals;
    }
  }
}

RolloutFuture FutureSampler::draw(const DecisionPoint& point, Duration horizon, std::size_t most,
                                  const Which& which) const {
  RolloutFuture out;
  Rng rng = Rng(which.seed).fork(which.sample);
  // Jobs go through the parts of their distributions from different ones on, half of them
  // backwards.
  const auto part = [&](std::uint64_t order) {
    const std::uint64_t mixed = mix64(which.seed ^ mix64(order));
    const auto from = static_cast<std::uint32_t>(mixed >> 32U) % which.of;
    const std::uint32_t step = (mixed & 1U) != 0 ? which.sample : which.of - 1 - which.sample;
    const double u = ((from + step) % which.of + rng.uniform()) / which.of;
    return std::min(u, std::nextafter(1.0, 0.0));  // rounding
  };
  const View& view = point.view;
  for (const JobView& job : view.waiting)
    out.waiting_s.push_back(point.remaining.draw(job, view.now, part(job.order)));
  const Residents& residents = point.candidates.residents();
  STARLING_CHECK(residents.running().size() >= view.running.size());
  for (std::size_t i = 0; i < view.running.size(); ++i) {
    const Resident& job = residents.at(residents.running()[i]);
    STARLING_CHECK(job.order == view.running[i].order);
    out.running_s.push_back(point.remaining.draw(job, view.now, part(job.order)));
  }
  add_arrivals(point, seconds(horizon), most, rng, out);
  return out;
}

// A stretch of those who came lately, as they came, so that bursts stay bursts.
void FutureSampler::add_arrivals(const DecisionPoint& point, double horizon_s, std::size_t most,
                                 Rng& rng, RolloutFuture& out) const {
  if (came_.size() < 2) return;
  std::size_t at = rng.below(static_cast<std::uint32_t>(came_.size()));
  double after_s = came_[at].gap_s * rng.uniform();
  for (std::size_t i = 0; i < most && after_s <= horizon_s; ++i) {
    const Came& came = came_[at];
    RolloutArrival& arrival = out.arrivals.emplace_back();
    arrival.after = from_seconds(after_s);
    arrival.spec = came.spec;
    arrival.spec.id = {kDrawn, i};
    const Instant now = point.view.now;
    arrival.work_s = point.remaining.draw(came.spec, later(now, arrival.after), now, rng.uniform());
    at = (at + 1) % came_.size();
    after_s += came_[at].gap_s;
  }
}

}  // namespace starling
