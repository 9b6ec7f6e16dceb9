// SPDX-License-Identifier: Apache-2.0
// Jobs that move for a lower price after they have waited or run: by a tested gain alone, for prices
// change, and a policy that chases them moves each job a dozen times.
#include <algorithm>
#include <functional>

#include "policies/partitions/moves.h"
#include "policies/partitions/price_routing.h"
#include "policies/parts/evict.h"

namespace starling {
namespace {

/// Part of its cost that a job must save by a move.
constexpr double kWorthMoving = 0.25;
/// Seconds that a job must save by a move that stops it: twice what a restart costs.
constexpr double kRestartS = 60;
constexpr std::size_t kMoversPerRound = 16;

}  // namespace

void PriceRouting::rebalance(std::span<const JobView* const> left, std::vector<Decision>& out) {
  if (!together_) return;
  std::uint32_t given = 0;
  for (const JobView* job : left) {
    if (given >= kForwardsPerCall) return;
    if (job->blocked || job->forwards >= most_moves_in_hope(peers_.count())) continue;
    const Place go = elsewhere(*job);
    if (go.cost >= here(*job->spec, true).cost * (1 - kWorthMoving)) continue;
    forward(*job, go.agent, out);
    waiting_ -= most_gpus(*job->spec);
    ++given;
  }
}

std::vector<const JobView*> PriceRouting::pick_movers(const View& view) {
  movers_.clear();
  if (!together_) return {};
  struct Mover {
    double saved;
    const JobView* job;
  };
  std::vector<Mover> found;
  for (const JobView& job : view.running) {
    const JobSpec& spec = *job.spec;
    if (job.blocked || job.placement.empty() || spec.no_requeue ||
        job.forwards >= most_moves_in_hope(peers_.count()) ||
        !lies_here(view.gpus, job.placement))  // gangs over partitions stay
      continue;
    const GpuTypeId type = view.topology.type_of(job.placement.front());
    const double stay = cost_on(spec, type);
    const Place go = elsewhere(job);
    if (!go.starts || go.cost >= stay * (1 - kWorthMoving)) continue;
    const double left_s = seconds(job.served) * speed_of(spec, type);
    const double saved = left_s * (stay - go.cost);
    if (saved > kRestartS) found.push_back({saved, &job});
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &Mover::saved);
  if (found.size() > kMoversPerRound) found.resize(kMoversPerRound);
  std::vector<const JobView*> movers;
  for (const Mover& mover : found) {
    // Others who are picked must not hope for the same room.
    const Place go = elsewhere(*mover.job);
    const double stay =
        cost_on(*mover.job->spec, view.topology.type_of(mover.job->placement.front()));
    if (!go.starts || go.cost >= stay * (1 - kWorthMoving)) continue;
    RemoteNeed need = need_of(*mover.job->spec, view.topology);
    peers_.note_forward(view, go.agent, std::move(need));
    movers.push_back(mover.job);
    movers_.push_back(mover.job->spec->id);
  }
  return movers;
}

}  // namespace starling
