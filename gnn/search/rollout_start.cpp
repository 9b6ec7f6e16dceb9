// SPDX-License-Identifier: Apache-2.0
#include "gnn/search/rollout_start.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "interference/profile.h"

namespace starling {
namespace {

// Work that was underestimated is done in a moment, not never or before it began.
constexpr double kLeastWorkS = 1e-3;

}  // namespace

RolloutStart::RolloutStart(const View& view, RolloutFuture future, const RolloutWorld& world)
    : gpus_(view.gpus),
      asked_(world.asked_memo != nullptr ? world.asked_memo : &view.speed),
      now_(view.now),
      me_(view.me) {
  memo_ =
      world.speed == nullptr && world.speed_memo == nullptr ? world.asked_memo : world.speed_memo;
  world_ = memo_ != nullptr ? memo_ : world.speed != nullptr ? world.speed : &view.speed;
  STARLING_CHECK(future.waiting_s.size() == view.waiting.size());
  STARLING_CHECK(future.running_s.size() == view.running.size());
  STARLING_CHECK(future.expected_s.empty() || future.expected_s.size() == view.waiting.size());
  STARLING_CHECK(future.starting_s.empty() || future.starting_s.size() == view.running.size());
  jobs_.reserve(view.waiting.size() + view.running.size() + future.arrivals.size());
  std::uint64_t order = 0;
  for (std::size_t i = 0; i < view.waiting.size(); ++i) {
    order = std::max(order, view.waiting[i].order);
    if (view.waiting[i].blocked) continue;
    add(view.waiting[i], future.waiting_s[i], world);
    if (future.expected_s.empty()) continue;
    jobs_.back().spec.duration = from_seconds(future.expected_s[i] + seconds(jobs_.back().served));
  }
  waiting_ = static_cast<std::uint32_t>(jobs_.size());
  for (std::size_t i = 0; i < view.running.size(); ++i) {
    order = std::max(order, view.running[i].order);
    add(view.running[i], future.running_s[i], world);
    if (!future.starting_s.empty()) jobs_.back().startup_s = future.starting_s[i];
  }
  present_ = static_cast<std::uint32_t>(jobs_.size());
  Duration last{0};
  for (RolloutArrival& arrival : future.arrivals) {
    STARLING_CHECK(arrival.after >= last);
    last = arrival.after;
    JobView job;
    job.spec = &arrival.spec;
    job.submitted = later(now_, arrival.after);
    job.order = ++order;
    add(job, arrival.work_s, world);
  }
}

void RolloutStart::add(const JobView& view, double work_s, const RolloutWorld& world) {
  Job& job = jobs_.emplace_back();
  job.spec = *view.spec;
  const bool runs = !view.placement.empty();
  job.profile = runs ? profile_of(job.spec, static_cast<std::uint32_t>(view.placement.size()))
                     : profile_of(job.spec);
  job.hash = SpeedMemo::hash_of(job.profile);
  job.order = view.order;
  job.submitted = view.submitted;
  job.served = view.served;
  job.work_s = std::max(work_s, kLeastWorkS);
  if (!runs && world.startup_s) job.startup_s = world.startup_s(job.spec, job.profile, job.served);
  if (job.profile.gpus != job.profile.asked) job.scaling = world_->scaling(job.profile);
  job.placement = view.placement;
  servers_of(job.placement, job.servers);
  job.failed_rounds = view.failed_rounds;
  job.forwards = view.forwards;
}

void RolloutStart::servers_of(const Placement& placement, std::vector<std::uint32_t>& into) const {
  into.clear();
  const IndexRange servers = gpus_.servers();
  for (const GpuId gpu : placement) {
    const std::uint32_t server = gpus_.topology().server_of(gpu).value;
    if (!servers.contains(server)) continue;
    if (into.empty() || into.back() != server - servers.first)
      into.push_back(server - servers.first);
  }
}

JobView RolloutStart::view_of(std::uint32_t row) const {
  const Job& job = jobs_[row];
  JobView view;
  view.spec = &job.spec;
  view.submitted = job.submitted;
  view.order = job.order;
  view.served = job.served;
  view.failed_rounds = job.failed_rounds;
  view.forwards = job.forwards;
  view.placement = job.placement;
  return view;
}

}  // namespace starling
