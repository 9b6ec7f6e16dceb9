// SPDX-License-Identifier: Apache-2.0
// Which jobs a plan is about, and what it divides.
#include <algorithm>
#include <limits>
#include <set>

#include "policies/partitions/moves.h"
#include "policies/parts/evict.h"
#include "policies/parts/restart.h"
#include "policies/rank/rank.h"

namespace starling {
namespace {

/// What a job gains by a change is counted over so long at most.
constexpr double kHorizonS = 600;
/// A job changes for so many times what a restart costs it.
constexpr double kWorthIt = 2;

}  // namespace

bool RankPolicy::is_mixed(const View& view, const Placement& placement) const {
  return std::ranges::any_of(placement, [&](GpuId gpu) {
    return view.topology.type_of(gpu) != view.topology.type_of(placement.front());
  });
}

/// A gang on GPUs of several types has found its place in this partition for good.
bool RankPolicy::may_stop(const View& view, const JobView& job) const {
  return may_leave(view, job) && !is_mixed(view, job.placement);
}

/// What runs on a server that is drained, or on a GPU that is bad, ends there by itself.
bool RankPolicy::may_leave(const View& view, const JobView& job) const {
  const RunDetails& run = job.spec->run;
  const bool says = run.save > Duration{0} || run.restore > Duration{0};
  const bool drained = std::ranges::any_of(job.placement, [&](GpuId gpu) {
    return view.gpus.gpus().contains(gpu.value) && view.gpus.is_blocked(gpu);
  });
  return options_.may != MayDo::place && (job.spec->elastic() || says) && !drained;
}

/// `as_planned`: with what the last round took to be left of it.
RankPolicy::Member RankPolicy::member_of(const Call& call, const JobView& job, bool as_planned) {
  const View& view = call.view;
  Member member;
  member.job = &job;
  member.known = &known_of(call, job);
  member.stoppable = may_stop(view, job);
  Known& known = *member.known;
  if (!as_planned || known.left_s <= 0) known.left_s = lengths_.left_s(job, view.now);
  member.left_s = known.left_s;
  member.restart_s = options_.charge * restart_cost_s(*job.spec, options_.restart_s);
  if (job.placement.empty()) return member;
  member.type = view.topology.type_of(job.placement.front()).value;
  member.now.gpus = static_cast<std::uint32_t>(job.placement.size());
  member.now.speed = member.known->speeds->of(member.type, member.now.gpus);
  if (member.now.speed <= 0) member.now.speed = std::max(member.known->pace, 1e-9);
  return member;
}

/// What is left of it would be done so much sooner at that pace than where it is.
double RankPolicy::saved_s(const Member& member, double pace) {
  return member.left_s / member.known->pace - member.left_s / pace;
}

/// The sizes of a job that runs: what it has for what it is, all others less by a restart.
std::vector<RankSize> RankPolicy::charged(const Member& member, std::uint32_t type) const {
  std::vector<RankSize> sizes;
  const double c = member.restart_s;
  for (RankSize size : member.known->speeds->sizes[type]) {
    const bool has = type == member.type && size.gpus == member.now.gpus;
    if (!has) {
      const double saved = member.left_s / member.now.speed - member.left_s / size.speed;
      if (size.speed > member.now.speed && saved < kWorthIt * c) continue;
      const double within =
          std::max({c, std::min(kHorizonS, member.left_s / size.speed + c), 1e-9});
      size.speed *= 1 - c / within;
      if (size.speed <= 0) continue;
    }
    sizes.push_back(size);
  }
  return sizes;
}

void RankPolicy::add(Plan& plan, Member member) const {
  const RankSpeeds& speeds = *member.known->speeds;
  RankJob job = job_of(member);
  job.sizes.reserve(speeds.sizes.size());
  for (std::uint32_t t = 0; t < speeds.sizes.size(); ++t) {
    if (member.now.gpus > 0) {
      plan.own.push_back(charged(member, t));
      job.sizes.emplace_back(plan.own.back());
    } else {
      job.sizes.emplace_back(speeds.sizes[t]);
    }
  }
  plan.problem.jobs.push_back(std::move(job));
  plan.members.push_back(std::move(member));
}

/// Without any size.
RankJob RankPolicy::job_of(const Member& member) const {
  member.known->planned = true;
  RankJob job;
  job.left_s = member.left_s;
  job.least_gpu_s = member.known->speeds->least_gpu_s;
  const double waited = member.known->without_gpus_s / options_.patience_s;
  job.aged = waited * waited * waited;
  job.priority = member.job->spec->priority;
  job.stoppable = member.stoppable;
  return job;
}

/// The same of one that keeps what it has, and has no more.
void RankPolicy::add_host(Plan& plan, Member member) const {
  RankJob job = job_of(member);
  job.base = member.now;
  job.base_type = member.type;
  plan.problem.jobs.push_back(std::move(job));
  plan.members.push_back(std::move(member));
}

/// The same of one that keeps what it has, and may have more of that type.
void RankPolicy::add_grower(Plan& plan, const Member& member) const {
  add(plan, member);
  RankJob& job = plan.problem.jobs.back();
  for (std::uint32_t t = 0; t < job.sizes.size(); ++t) {
    if (t != member.type) job.sizes[t] = {};
  }
  job.base = member.now;
  job.base_type = member.type;
}

void RankPolicy::divide(Plan& plan) {
  plan.problem.free = places_.free_by_type();
  plan.problem.cost = costs_;
  plan.answer = divide_by_rank(plan.problem);
}

/// Before all others of its priority, once it has waited for kPatience. Where it has waited for
/// long and finds no place, nothing starts until the next round that could not be stopped for it.
void RankPolicy::plan_mixed(const JobView& job, Plan& plan, RoundPlan& round) {
  const View& view = plan.call.view;
  if (view.now - job.submitted < kPatience) return;
  JobSpec smallest = *job.spec;
  if (options_.may == MayDo::resize) smallest.workers = workers_of(smallest).least;
  auto found = place(places_.gpus(), rounds_.shape(), smallest, Fit::server);
  if (!found) found = place(places_.gpus(), rounds_.shape(), smallest, Fit::count);
  if (found) {
    places_.take(job.spec, *found, {});
    round.add({job.spec->id, *std::move(found)});
  } else if (known_.at(job.spec->id).without_gpus_s >= options_.patience_s) {
    plan.problem.held.assign(costs_.size(), true);
    held_ = true;
  }
}

void RankPolicy::plan_round(const Call& call, RoundPlan& round, std::vector<Decision>& out) {
  const View& view = call.view;
  Plan plan(call);
  held_ = false;
  changed_ = false;
  places_.begin(view.gpus, rounds_.shape());
  std::vector<const JobView*> mixed;
  std::int32_t most_urgent = std::numeric_limits<std::int32_t>::min();
  std::set<JobId> leaving;
  for (const JobView* job : routing_.pick_movers(view)) {
    if (!may_leave(view, *job)) continue;
    leaving.insert(job->spec->id);
    out.emplace_back(Preempt{job->spec->id});
  }
  for (const JobView& job : view.running) {
    if (!lies_here(view.gpus, job.placement)) continue;
    if (leaving.contains(job.spec->id)) {
      places_.give_back(job.spec, job.placement);
      continue;
    }
    if (job.blocked || !may_stop(view, job)) {
      places_.stays(job);
      continue;
    }
    places_.give_back(job.spec, job.placement);
    most_urgent = std::max(most_urgent, job.spec->priority);
    add(plan, member_of(call, job));
  }
  for (const JobView& job : view.waiting) {
    if (job.blocked) continue;
    const RankSpeeds& speeds = *known_.at(job.spec->id).speeds;
    if (speeds.needs_types) mixed.push_back(&job);
    if (speeds.needs_types || speeds.never()) continue;
    most_urgent = std::max(most_urgent, job.spec->priority);
    add(plan, member_of(call, job));
  }
  for (const JobView* job : mixed) {
    if (job->spec->priority >= most_urgent) plan_mixed(*job, plan, round);
  }
  if (shares(view)) add_hosts(round, plan, false), keep_pairs(plan);
  divide(plan);
  if (shares(view)) part_pairs(plan), pair_up(plan);
  reasons_.note(view, plan.problem, plan.answer, carry_out(plan, round, out));
}

void RankPolicy::between(const Call& call, RoundPlan& round, std::vector<Decision>& out) {
  const View& view = call.view;
  const bool room = view.gpus.free_count() > 0;
  const bool hosts = shares(view) && looks_for_hosts(view);
  if (!room && !hosts) return;
  // Who found no place before finds none while all else is as it was, but may hold what others
  // want.
  const bool all = room || std::exchange(changed_, false);
  Plan plan(call);
  for (const JobView& job : view.waiting) {
    const Known& known = known_.at(job.spec->id);
    const bool again = known.planned && known.without_gpus_s < options_.patience_s;
    if ((!all && again) || job.blocked || round.contains(job.spec->id) ||
        known.speeds->needs_types || known.speeds->never())
      continue;
    add(plan, member_of(call, job));
  }
  const bool grows = room && view.waiting.empty() && round.empty();
  if (plan.members.empty() && !grows) return;
  places_.begin(view.gpus, rounds_.shape());
  for (const JobView& job : view.running) {
    if (lies_here(view.gpus, job.placement)) places_.stays(job);
  }
  if (grows) return grow(call, out);
  round.keep_places(places_.gpus());
  if (held_) plan.problem.held.assign(costs_.size(), true);
  if (hosts) {
    looked_ = view.now;
    add_hosts(round, plan, true);
  }
  divide(plan);
  if (hosts) pair_up(plan);
  changed_ |= !hosts;  // they are to be offered those later
  reasons_.add(view, plan.problem, plan.answer, carry_out(plan, round, out));
}

/// To those who run, if that saves them more than it costs.
void RankPolicy::grow(const Call& call, std::vector<Decision>& out) {
  const View& view = call.view;
  Plan plan(call);
  for (const JobView& job : view.running) {
    if (job.blocked || !lies_here(view.gpus, job.placement) || !may_stop(view, job)) continue;
    if (known_of(call, job).beside) continue;  // they part at a round, if they do
    add_grower(plan, member_of(call, job));
  }
  divide(plan);
  for (std::size_t i = 0; i < plan.members.size(); ++i) {
    const JobView& job = *plan.members[i].job;
    if (plan.answer.grants[i]->gpus == plan.members[i].now.gpus) continue;
    places_.give_back(job.spec, job.placement);
    auto found = place_of(plan, i);
    // A place for fewer that is cheaper is none that it runs faster on.
    const Member& member = plan.members[i];
    const bool moves = found && *found != job.placement && fits_now(view.gpus, *found, job) &&
                       saved_s(member, RankPlaces::pace(view.speed, *job.spec, *found)) >
                           kWorthIt * member.restart_s;
    places_.take(job.spec, moves ? *found : job.placement, job.allocation);
    if (moves) out.emplace_back(Resize{job.spec->id, *std::move(found)});
  }
}

}  // namespace starling
