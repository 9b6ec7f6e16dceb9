// SPDX-License-Identifier: Apache-2.0
// Where the jobs of a plan go, and how that comes to be.
#include <algorithm>
#include <tuple>

#include "policies/parts/evict.h"
#include "policies/rank/rank.h"
#include "workload/requirements.h"

namespace starling {
namespace {

/// Seconds saved, in restarts, for which a job moves that keeps its size.
constexpr double kWorthMoving = 2;

}  // namespace

std::vector<RankReasons::Got> RankPolicy::got_of(const View& view, const Plan& plan,
                                                 const std::vector<std::optional<Placement>>& to) {
  std::vector<RankReasons::Got> got;
  for (std::size_t i = 0; i < plan.members.size(); ++i) {
    got.push_back({plan.members[i].job->spec->id});
    got.back().had = plan.members[i].now.gpus;
    got.back().asked = !plan.members[i].stays || plan.members[i].partner;
    if (const auto partner = plan.members[i].partner; partner && to[*partner] == to[i])
      got.back().beside = plan.members[*partner].job->spec->id;
    if (!to[i]) continue;
    got.back().gpus = static_cast<std::uint32_t>(to[i]->size());
    got.back().type = view.topology.type_of(to[i]->front()).value;
  }
  return got;
}

/// Of the sizes up to the granted one that which is worth most where it has room, less what its
/// GPUs are worth to others; among them what the job has, if that is free.
std::optional<Placement> RankPolicy::place_of(const Plan& plan, std::size_t i) {
  const Member& member = plan.members[i];
  const RankGrant grant = *plan.answer.grants[i];
  const JobSpec& spec = *member.job->spec;
  const RankSpeeds& speeds = *member.known->speeds;
  const double each = plan.answer.rank[i] * plan.problem.jobs[i].least_gpu_s;
  // Beside GPUs of another type, which it has, it must not be its own wish that makes these dear;
  // nor where its last step alone sets the price: that step would gain nothing by it.
  const bool changes_type = member.now.gpus > 0 && member.type != grant.type;
  const bool own_wish = changes_type || (member.now.gpus < grant.gpus &&
                                         grant.value <= plan.answer.price[grant.type]);
  const auto cost_of = [&](std::uint32_t type, std::uint32_t gpus) {
    const double worth = own_wish ? plan.answer.worth_to_others(i, type) : plan.answer.price[type];
    return worth * costs_[type] * gpus;
  };
  std::optional<Placement> best;
  double most = 0;
  if (member.now.gpus > 0 && is_left(places_.gpus(), *member.job)) {
    best = member.job->placement;
    most = each * member.known->pace - cost_of(member.type, member.now.gpus);
  }
  const auto sizes = plan.problem.jobs[i].sizes[grant.type];
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    if (size->gpus > grant.gpus) continue;
    const double cost = cost_of(grant.type, size->gpus);
    if (best && each * size->speed - cost <= most) continue;
    auto found = places_.find(plan.call.view.speed, spec, size->gpus / spec.gpus_per_worker,
                              GpuTypeId{static_cast<std::uint16_t>(grant.type)});
    if (!found) continue;
    // What a restart takes of its speed in an empty partition it takes here.
    const double charge = size->speed / speeds.of(grant.type, size->gpus);
    const double worth =
        each * RankPlaces::pace(plan.call.view.speed, spec, *found) * charge - cost;
    if (best && worth <= most) continue;
    most = worth;
    best = std::move(found);
  }
  return best;
}

/// One that keeps size and type keeps its place; the others are `movers`.
std::vector<std::size_t> RankPolicy::take_stayers(const Plan& plan,
                                                  std::vector<std::size_t>& movers) {
  std::vector<std::size_t> stayers;
  for (std::size_t i = 0; i < plan.members.size(); ++i) {
    const Member& member = plan.members[i];
    const auto& grant = plan.answer.grants[i];
    if (member.stays || member.guest) continue;
    if (grant && grant->gpus == member.now.gpus && grant->type == member.type &&
        is_left(places_.gpus(), *member.job)) {
      places_.take(member.job->spec, member.job->placement, member.job->allocation);
      stayers.push_back(i);
    } else {
      movers.push_back(i);
    }
  }
  return stayers;
}

/// By priority; in it first those who have waited for long, then the largest. Where one of those
/// finds no place none starts after it that could not be stopped.
void RankPolicy::place_movers(const Plan& plan, const std::vector<std::size_t>& movers,
                              std::vector<std::optional<Placement>>& to) {
  bool held = false;
  for (const std::size_t i : movers) {
    const Member& member = plan.members[i];
    if (!plan.answer.grants[i] || (held && !member.stoppable)) continue;
    to[i] = member.partner ? place_of_pair(plan, i) : place_of(plan, i);
    if (to[i]) {
      places_.take(member.job->spec, *to[i], {});
    } else if (plan.problem.jobs[i].aged >= 1) {
      held = true;
    }
  }
  place_guests(plan, held, to);
  const auto keep_place = [&](std::size_t i) {
    const JobView& job = *plan.members[i].job;
    if (to[i] || !is_left(places_.gpus(), job)) return;
    to[i] = job.placement;  // no other needs it
    places_.take(job.spec, job.placement, job.allocation);
  };
  std::ranges::for_each(movers, keep_place);
  for (const JobPair& pair : plan.pairs) keep_place(pair.guest);
}

/// What each has in the end.
std::vector<RankReasons::Got> RankPolicy::carry_out(const Plan& plan, RoundPlan& round,
                                                    std::vector<Decision>& out) {
  const View& view = plan.call.view;
  std::vector<std::size_t> movers;
  const std::vector<std::size_t> stayers = take_stayers(plan, movers);
  const auto key = [&](std::size_t i) {
    const auto& grant = plan.answer.grants[i];
    const RankJob& job = plan.problem.jobs[i];
    return std::tuple(-std::int64_t{job.priority}, job.aged < 1,
                      -std::int64_t{grant ? grant->gpus : 0});
  };
  std::ranges::stable_sort(movers, {}, key);
  std::vector<std::optional<Placement>> to(plan.members.size());
  for (std::size_t i = 0; i < plan.members.size(); ++i) {
    if (plan.members[i].stays) to[i] = plan.members[i].job->placement;
  }
  for (const std::size_t i : stayers) to[i] = plan.members[i].job->placement;
  place_movers(plan, movers, to);
  std::vector<RankReasons::Got> got = got_of(view, plan, to);
  std::vector<Decision> resizes;
  for (const std::size_t i : movers) {
    const JobView& job = *plan.members[i].job;
    const bool runs = !job.placement.empty();
    if (runs ? to[i] == job.placement : !to[i]) continue;
    if (bring_to_guest(plan, i, to, round, out)) continue;
    bring(view, job, to[i], round, out, resizes);
  }
  bring_guests(plan, to, round, out);
  move_stayers(plan, stayers, round, out, resizes);
  out.insert(out.end(), resizes.begin(), resizes.end());
  return got;
}

/// A policy that resizes no job does not say Resize of those either that keep their size and move.
void RankPolicy::bring(const View& view, const JobView& job, const std::optional<Placement>& to,
                       RoundPlan& round, std::vector<Decision>& out,
                       std::vector<Decision>& resizes) const {
  if (facts_.elastic || job.placement.empty()) return round.bring(view, job, to, {}, out, resizes);
  round.restart(job.spec->id, to, out);
}

/// To GPUs that no job has to leave first.
void RankPolicy::move_stayers(const Plan& plan, const std::vector<std::size_t>& stayers,
                              RoundPlan& round, std::vector<Decision>& out,
                              std::vector<Decision>& resizes) {
  const View& view = plan.call.view;
  for (const std::size_t i : stayers) {
    const Member& member = plan.members[i];
    const JobView& job = *member.job;
    const auto saves = [&](double pace) {
      return saved_s(member, pace) > kWorthMoving * member.restart_s;
    };
    if (member.now.gpus == 0 || member.partner || !saves(member.now.speed)) continue;
    places_.give_back(job.spec, job.placement);
    auto found = places_.find(view.speed, *job.spec, member.now.gpus / job.spec->gpus_per_worker,
                              GpuTypeId{static_cast<std::uint16_t>(member.type)});
    const bool moves = found && saves(RankPlaces::pace(view.speed, *job.spec, *found)) &&
                       fits_now(view.gpus, *found, job);
    places_.take(job.spec, moves ? *found : job.placement, job.allocation);
    if (moves) bring(view, job, found, round, out, resizes);
  }
}

}  // namespace starling
