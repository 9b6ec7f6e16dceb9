// SPDX-License-Identifier: Apache-2.0
// Which jobs share GPUs, and how that comes to be.
#include <algorithm>

#include "policies/parts/evict.h"
#include "policies/rank/rank.h"
#include "workload/requirements.h"

namespace starling {
namespace {

/// How often pairs are looked for: each time with the GPUs at what they are worth once those that
/// the last ones set free are given out.
constexpr int kSearches = 3;
/// What a change of place is counted over at most, as a change of size.
constexpr double kMoveHorizonS = 600;

bool has_room(const Occupancy& gpus, const Placement& placement, Demand each) {
  return gpus.has_means(placement, each) &&
         std::ranges::all_of(placement, [&](GpuId gpu) { return gpus.has_room(gpu); });
}

/// To where `beside` is, or nowhere.
void start_beside(RoundPlan& round, const JobView& job, const std::optional<Placement>& place,
                  JobId beside, std::vector<Decision>& out) {
  if (!job.placement.empty())
    round.restart(job.spec->id, place, out, beside);
  else if (place)
    round.add({job.spec->id, *place, beside});
}

}  // namespace

bool RankPolicy::shares(const View& view) const {
  return options_.shares && view.gpus.jobs_per_gpu() > 1;
}

PairRate RankPolicy::rate_of(const Plan& plan, std::uint32_t one, std::uint32_t other,
                             std::uint32_t type, std::uint32_t gpus) {
  return rates_.of({plan.call.view.speed, rounds_.shape(), rounds_.empty()}, one, other, type,
                   gpus);
}

bool RankPolicy::looks_for_hosts(const View& view) {
  return view.running.size() <= kManyRunning || view.now - looked_ >= kLookEach ||
         view.now < looked_;
}

void RankPolicy::see_neighbours(const View& view, std::span<Known* const> running) {
  const std::uint32_t first = view.gpus.gpus().first;
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> on(view.gpus.gpus().size(), kNone);  // by GPU, in View::running
  for (std::size_t i = 0; i < running.size(); ++i) {
    const JobView& job = view.running[i];
    if (!lies_here(view.gpus, job.placement)) continue;
    std::size_t& other = on[job.placement.front().value - first];
    if (other == kNone) {
      other = i;
    } else if (view.running[other].placement == job.placement) {
      running[i]->beside = view.running[other].spec->id;
      running[other]->beside = job.spec->id;
    }
  }
}

/// Jobs that keep their places whatever is divided, and that others may join there; also those that
/// have a job beside them now which could be stopped.
void RankPolicy::add_hosts(const RoundPlan& round, Plan& plan, bool as_planned) {
  const View& view = plan.call.view;
  std::vector<JobId> members;
  for (const Member& member : plan.members) members.push_back(member.job->spec->id);
  std::ranges::sort(members);
  for (const JobView& job : view.running) {
    const JobId id = job.spec->id;
    if (job.blocked || !lies_here(view.gpus, job.placement) || is_mixed(view, job.placement) ||
        std::ranges::binary_search(members, id) || round.has_guest(id) ||
        !has_room(places_.gpus(), job.placement, {}))
      continue;
    Member member = member_of(plan.call, job, as_planned);
    member.stays = true;
    add_host(plan, std::move(member));
  }
}

/// Part of its speed that a job keeps which moves and keeps its size.
double RankPolicy::moved(const Member& member) {
  const double c = member.restart_s;
  const double within = std::min(kMoveHorizonS, member.left_s / member.now.speed + c);
  return within > c ? 1 - c / within : 0;
}

PairJob RankPolicy::pair_job(const Plan& plan, std::size_t i, double worth_of_gpus) {
  const Member& member = plan.members[i];
  PairJob job;
  job.kind = member.known->kind;
  job.priority = member.job->spec->priority;
  job.each = plan.answer.rank[i] * plan.problem.jobs[i].least_gpu_s;
  job.sizes = plan.problem.jobs[i].sizes;
  job.now = {member.type, member.now.gpus, member.now.speed, 0};
  if (member.now.gpus > 0) job.moved = moved(member);
  job.for_good = !member.stoppable;
  job.hosts = job.joins = !member.partner;
  if (member.stays) job.joins = false;
  if (const auto& grant = plan.answer.grants[i]) {
    job.has = *grant;
    // Of two on the same GPUs one would have to go.
    const bool goes =
        member.known->beside && grant->gpus == member.now.gpus && grant->type == member.type;
    job.alone = std::max(job.each * grant->speed * (goes ? job.moved : 1) - worth_of_gpus, 0.0);
    if (worth_of_gpus <= 0 && !goes) job.joins = false;
  }
  return job;
}

std::vector<PairJob> RankPolicy::pair_jobs(const Plan& plan) const {
  std::vector<PairJob> jobs;
  std::map<JobId, std::size_t> index;
  for (std::size_t i = 0; i < plan.members.size(); ++i) {
    double worth = 0;
    if (const auto& grant = plan.answer.grants[i])
      worth = plan.answer.worth_to_others(i, grant->type) * costs_[grant->type] * grant->gpus;
    jobs.push_back(pair_job(plan, i, worth));
    index.emplace(plan.members[i].job->spec->id, i);
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& beside = plan.members[i].known->beside;
    if (!beside) continue;
    const auto at = index.find(*beside);
    if (at != index.end()) jobs[i].beside = at->second;
  }
  return jobs;
}

/// The pairs are made, and the rest of the division is about what they leave. Of those who had GPUs
/// of their own only the better half is taken: what they set free is worth less the more there is.
/// Answers whether any was set free.
bool RankPolicy::fix(Plan& plan, const std::vector<JobPair>& pairs,
                     const std::vector<PairJob>& jobs, std::vector<std::uint32_t>& kept) const {
  const auto had_some = [&](const JobPair& pair) { return jobs[pair.guest].has.gpus > 0; };
  auto left = (std::ranges::count_if(pairs, had_some) + 1) / 2;
  bool frees = false;
  for (const JobPair& pair : pairs) {
    if (had_some(pair) && left-- <= 0) continue;
    frees |= had_some(pair);
    if (!plan.members[pair.host].stays) kept[pair.type] += pair.gpus;
    bind(plan, pair);
  }
  return frees;
}

void RankPolicy::pair_up(Plan& plan) {
  const std::size_t before = plan.pairs.size();
  std::vector<std::uint32_t> kept(costs_.size(), 0);
  const auto rates = [&](std::uint32_t one, std::uint32_t other, std::uint32_t type,
                         std::uint32_t gpus) { return rate_of(plan, one, other, type, gpus); };
  for (int search = 0; search < kSearches; ++search) {
    const std::vector<PairJob> jobs = pair_jobs(plan);
    if (!fix(plan, choose_pairs(jobs, rates, plan.answer.held), jobs, kept)) break;
    plan.problem.free = places_.free_by_type();
    for (std::size_t t = 0; t < kept.size(); ++t)
      plan.problem.free[t] -= std::min(plan.problem.free[t], kept[t]);
    plan.answer = divide_by_rank(plan.problem);
  }
  for (std::size_t p = before; p-- > 0;) {  // what the others came to want left nothing for it
    if (plan.answer.grants[plan.pairs[p].host]) continue;
    part(plan, plan.pairs[p]);
    plan.pairs.erase(plan.pairs.begin() + static_cast<std::ptrdiff_t>(p));
  }
  for (const JobPair& pair : plan.pairs) {
    plan.answer.grants[pair.host] = RankGrant{pair.type, pair.gpus, pair.speed, 0};
    plan.answer.grants[pair.guest].reset();
  }
}

/// Where one of the two is, if that is free, else anywhere.
std::optional<Placement> RankPolicy::place_of_pair(const Plan& plan, std::size_t host) {
  const RankGrant grant = *plan.answer.grants[host];
  const JobSpec& spec = *plan.members[host].job->spec;
  for (const std::size_t i : {host, *plan.members[host].partner}) {
    const Member& member = plan.members[i];
    if (member.now.gpus != grant.gpus || member.type != grant.type) continue;
    const Placement& place = member.job->placement;
    if (all_free(places_.gpus(), place) && places_.gpus().has_means(place, demand_of(spec)))
      return place;
  }
  return places_.find(plan.call.view.speed, spec, grant.gpus / spec.gpus_per_worker,
                      GpuTypeId{static_cast<std::uint16_t>(grant.type)});
}

/// `held`: a job that has waited for long found no place.
void RankPolicy::place_guests(const Plan& plan, bool held,
                              std::vector<std::optional<Placement>>& to) {
  for (const JobPair& pair : plan.pairs) {
    const JobSpec* guest = plan.members[pair.guest].job->spec;
    if ((held && !plan.members[pair.guest].stoppable) || !to[pair.host] ||
        to[pair.host]->size() != pair.gpus ||
        !has_room(places_.gpus(), *to[pair.host], demand_of(*guest)))
      continue;
    to[pair.guest] = to[pair.host];
    places_.take(guest, *to[pair.guest], {});
  }
}

/// To where its guest is, and stays. False: it goes somewhere else.
bool RankPolicy::bring_to_guest(const Plan& plan, std::size_t host,
                                const std::vector<std::optional<Placement>>& to, RoundPlan& round,
                                std::vector<Decision>& out) {
  const Member& member = plan.members[host];
  if (!member.partner || !to[host]) return false;
  const Member& guest = plan.members[*member.partner];
  if (guest.job->placement != *to[host] || to[*member.partner] != to[host]) return false;
  start_beside(round, *member.job, to[host], guest.job->spec->id, out);
  return true;
}

void RankPolicy::bring_guests(const Plan& plan, const std::vector<std::optional<Placement>>& to,
                              RoundPlan& round, std::vector<Decision>& out) {
  for (const JobPair& pair : plan.pairs) {
    const JobView& job = *plan.members[pair.guest].job;
    const auto& place = to[pair.guest];
    if (!job.placement.empty() && place == job.placement) continue;
    start_beside(round, job, place, plan.members[pair.host].job->spec->id, out);
  }
}

}  // namespace starling
