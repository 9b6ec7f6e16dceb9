// SPDX-License-Identifier: Apache-2.0
// Jobs that move for a lower price after they have waited or run: by a tested gain alone, for
// prices change, and a policy that chases them moves each job a dozen times.
#include <algorithm>
#include <functional>

#include "base/check.h"
#include "policies/partitions/moves.h"
#include "policies/partitions/price_routing.h"
#include "policies/parts/evict.h"

namespace starling {
namespace {

/// Part of its cost that a job must save by a move.
constexpr double kWorthMoving = 0.15;
/// Seconds that a job must save by a move that stops it: twice what a restart costs.
constexpr double kRestartS = 60;
constexpr std::size_t kMoversPerRound = 16;
/// A job that has moved often moves again once it has run so long for each of its moves.
constexpr Duration kMoveEach = std::chrono::minutes(10);

}  // namespace

void PriceRouting::rebalance(const View& view, std::span<const JobView* const> left,
                             std::vector<Decision>& out) {
  STARLING_CHECK(was_routed(view));
  if (!together_) return;
  std::uint32_t given = 0;
  for (const JobView* job : left) {
    if (given >= kForwardsPerCall) return;
    if (job->blocked || job->forwards >= most_moves_in_hope(peers_.count())) continue;
    const Place go = elsewhere(view, *job);
    if (go.cost >= here(view, *job->spec, true).cost * (1 - kWorthMoving)) continue;
    forward(view, *job, go.agent, out);
    waiting_ -= most_gpus(*job->spec);
    ++given;
  }
}

/// Of the types that it has, the one on which it is slowest.
GpuTypeId PriceRouting::slowest_type(const View& view, const JobView& job) {
  const auto type_of = [&](GpuId gpu) { return view.topology.type_of(gpu); };
  GpuTypeId slowest = type_of(job.placement.front());
  for (const GpuId gpu : job.placement) {
    const GpuTypeId type = type_of(gpu);
    if (type != slowest && speed_of(view, *job.spec, type) < speed_of(view, *job.spec, slowest))
      slowest = type;
  }
  return slowest;
}

/// A gang over partitions has GPUs that these prices do not tell of: it stays as if no other job
/// wanted them.
double PriceRouting::cost_to_stay(const View& view, const JobView& job, GpuTypeId type) {
  return lies_here(view.gpus, job.placement) ? cost_on(view, *job.spec, type)
                                             : cost_of(0, speed_of(view, *job.spec, type));
}

/// Where it would start at once, and save so much; cost kNowhere: there is none.
PriceRouting::Place PriceRouting::better_place(const View& view, const JobView& job, double stay) {
  Place go = elsewhere(view, job);
  if (!lies_here(view.gpus, job.placement)) {
    const Place home = here(view, *job.spec, false);
    if (!go.starts || (home.starts && home.cost < go.cost)) go = home;
  }
  if (!go.starts || go.cost >= stay * (1 - kWorthMoving)) go.cost = kNowhere;
  return go;
}

std::vector<const JobView*> PriceRouting::pick_movers(const View& view) {
  STARLING_CHECK(was_routed(view));
  movers_.clear();
  if (!together_) return {};
  struct Mover {
    double saved, stay;
    const JobView* job;
  };
  std::vector<Mover> found;
  for (const JobView& job : view.running) {
    const JobSpec& spec = *job.spec;
    if (job.blocked || job.placement.empty() || spec.no_requeue) continue;
    if (job.forwards >= most_moves_in_hope(peers_.count()) && job.served < kMoveEach * job.forwards)
      continue;
    const GpuTypeId type = slowest_type(view, job);
    const double stay = cost_to_stay(view, job, type);
    const Place go = better_place(view, job, stay);
    if (go.cost == kNowhere) continue;
    const double left_s = seconds(job.served) * speed_of(view, spec, type);
    const double saved = left_s * (stay - go.cost);
    if (saved > kRestartS) found.push_back({saved, stay, &job});
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &Mover::saved);
  if (found.size() > kMoversPerRound) found.resize(kMoversPerRound);
  std::vector<const JobView*> movers;
  for (const Mover& mover : found) {
    // Others who are picked must not hope for the same room.
    const Place go = better_place(view, *mover.job, mover.stay);
    if (go.cost == kNowhere) continue;
    if (go.agent != view.me) {
      RemoteNeed need = need_of(*mover.job->spec, view.topology);
      peers_.note_forward(view, go.agent, std::move(need));
    }
    movers.push_back(mover.job);
    movers_.push_back(mover.job->spec->id);
  }
  return movers;
}

}  // namespace starling
