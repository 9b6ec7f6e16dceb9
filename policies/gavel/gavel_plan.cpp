// SPDX-License-Identifier: Apache-2.0
// The part of Gavel's policy that turns a round's picks into GPUs and decisions.
#include <algorithm>
#include <functional>
#include <set>

#include "policies/gavel/gavel.h"
#include "policies/parts/evict.h"

namespace starling {

/// Gangs that no type can hold: those that run keep their GPUs, the most urgent that waits and of
/// those the oldest is next.
void GavelPolicy::plan_mixed(const View& view, Occupancy& planned, RoundPlan& plan) {
  const JobView* next = nullptr;
  std::optional<Placement> its;
  for (const JobView& job : view.waiting) {
    if (job.blocked || runs_on_one_type(job.spec->id)) continue;
    if (view.now - job.submitted < kPatience) continue;
    if (next != nullptr && job.spec->priority <= next->spec->priority) continue;
    auto found = place(planned, rounds_.shape(), *job.spec, Fit::server);
    if (!found) found = place(planned, rounds_.shape(), *job.spec, gavel_.queue.fit);
    if (!found) continue;
    next = &job;
    its = std::move(found);
  }
  if (next == nullptr) return;
  planned.take(*its, demand_of(*next->spec));
  plan.add({next->spec->id, std::move(*its)});
}

/// Those that the round may give GPUs; what they run on now is given back to `planned`.
std::vector<GavelPolicy::Member> GavelPolicy::members_of(const View& view,
                                                         Occupancy& planned) const {
  std::vector<Member> members;
  for (const JobView& job : view.waiting) {
    if (!job.blocked) members.push_back({&job, &known_.at(job.spec->id)});
  }
  for (const JobView& job : view.running) {
    const Known& known = known_.at(job.spec->id);
    if (job.blocked || !known.runs || !runs_on_one_type(job.spec->id)) continue;
    if (movers_.contains(job.spec->id)) continue;
    if (!lies_here(view.gpus, job.placement)) continue;
    planned.give_back(job.placement, demand_of(*job.spec));
    members.push_back({&job, &known});
  }
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.job->spec->id < b.job->spec->id; });
  return members;
}

/// The members alone, and pairs of them that have an allocation together.
std::vector<GavelRounds::Candidate> GavelPolicy::candidates_of(
    const std::vector<Member>& members) const {
  std::vector<GavelRounds::Candidate> candidates;
  std::map<JobId, std::size_t> member_of;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const JobSpec& job = *members[m].job->spec;
    member_of.emplace(job.id, m);
    candidates.push_back(
        {{job.id, std::nullopt}, {m, m}, job.gpus(), members[m].known->speed, job.priority});
  }
  for (const Together& both : together_) {
    const auto first = member_of.find(both.first);
    const auto second = member_of.find(both.second);
    if (first == member_of.end() || second == member_of.end()) continue;
    if (members[first->second].job->spec->gpus() != members[second->second].job->spec->gpus())
      continue;
    candidates.push_back({{both.first, both.second},
                          {first->second, second->second},
                          members[first->second].job->spec->gpus(),
                          both.speed,
                          std::max(members[first->second].job->spec->priority,
                                   members[second->second].job->spec->priority)});
  }
  return candidates;
}

/// What runs on which type: larger gangs first.
std::vector<GavelRounds::Pick> GavelPolicy::pick(
    const View& view, const Occupancy& planned,
    const std::vector<GavelRounds::Candidate>& candidates, Rng& rng) const {
  std::vector<std::uint32_t> left(types_.size(), 0);
  for (std::uint32_t s = planned.servers().first; s < planned.servers().last; ++s) {
    const Server& server = view.topology.server(ServerId{s});
    if (server.gpus.size() == 0) continue;
    left[*type_of(view, {GpuId{server.gpus.first}})] += planned.free_on(ServerId{s});
  }
  std::vector<std::size_t> order = fastest_first_;
  if (!gavel_.aware) {  // which type is filled first must not favour the fast ones
    for (std::size_t i = order.size(); i-- > 1;) {
      const auto n = static_cast<std::uint32_t>(i + 1);
      std::swap(order[i], order[gavel_.shuffle_types ? gavel_.shuffle_types(n) : rng.below(n)]);
    }
  }
  auto picks = accounts_->pick(candidates, left, order, gavel_.objective == GavelObjective::fifo);
  std::ranges::stable_sort(picks, std::ranges::greater{},
                           [&](const auto& pick) { return candidates[pick.candidate].gpus; });
  return picks;
}

/// Gives the picks their places: of those of one size first those that can stay where one of their
/// jobs is, no other being there after the round began. Answers which stay.
std::set<JobId> GavelPolicy::settle(const std::vector<Member>& members,
                                    const std::vector<GavelRounds::Candidate>& candidates,
                                    const std::vector<GavelRounds::Pick>& picks, Occupancy& planned,
                                    RoundPlan& plan) const {
  std::set<JobId> stays;
  const auto kept_place = [&](const GavelRounds::Pick& pick) -> const Placement* {
    for (const std::size_t m : candidates[pick.candidate].members) {
      const Member& member = members[m];
      if (member.known->runs == pick.type && is_left(planned, *member.job))
        return &member.job->placement;
    }
    return nullptr;
  };
  const auto give = [&](const GavelRounds::Pick& pick, const Placement& placement) {
    const GavelRounds::Candidate& chosen = candidates[pick.candidate];
    for (std::size_t i = 0; i < (chosen.who.second ? 2U : 1U); ++i) {
      const JobView& job = *members[chosen.members[i]].job;
      planned.take(placement, demand_of(*job.spec));
      if (job.placement == placement) {
        stays.insert(job.spec->id);
        continue;
      }
      std::optional<JobId> beside;
      if (chosen.who.second) beside = members[chosen.members[1 - i]].job->spec->id;
      plan.add({job.spec->id, placement, beside});
    }
  };
  for (auto first = picks.begin(); first != picks.end();) {
    const std::uint32_t size = candidates[first->candidate].gpus;
    const auto last = std::find_if(first, picks.end(), [&](const auto& pick) {
      return candidates[pick.candidate].gpus != size;
    });
    std::vector<GavelRounds::Pick> others;
    for (; first != last; ++first) {
      if (const Placement* kept = kept_place(*first)) {
        give(*first, *kept);
      } else {
        others.push_back(*first);
      }
    }
    for (const GavelRounds::Pick& pick : others) {
      const JobSpec& job = *members[candidates[pick.candidate].members[0]].job->spec;
      if (const auto place = find_on(planned, job, types_[pick.type].name)) give(pick, *place);
    }
  }
  return stays;
}

/// To other partitions, where they cost less; what they run on is given back to `planned`.
void GavelPolicy::stop_movers(const View& view, Occupancy& planned, std::vector<Decision>& out) {
  movers_.clear();
  for (const JobView* job : routing_.pick_movers(view)) {
    if (known_.at(job->spec->id).beside) continue;
    if (lies_here(view.gpus, job->placement))
      planned.give_back(job->placement, demand_of(*job->spec));
    out.emplace_back(Preempt{job->spec->id});
    movers_.insert(job->spec->id);
  }
}

void GavelPolicy::plan_round(const View& view, Rng& rng, RoundPlan& plan,
                             std::vector<Decision>& out) {
  allocate(view, rng);
  Occupancy planned = view.gpus;  // what the round can still give out
  stop_movers(view, planned, out);
  const std::vector<Member> members = members_of(view, planned);
  plan_mixed(view, planned, plan);
  const auto candidates = candidates_of(members);
  const auto picks = pick(view, planned, candidates, rng);
  const std::set<JobId> stays = settle(members, candidates, picks, planned, plan);
  for (const Member& member : members) {
    if (!member.known->runs || stays.contains(member.job->spec->id)) continue;
    // A job that is not in the round may go on as long as no other needs the place.
    if (plan.contains(member.job->spec->id))
      out.emplace_back(Preempt{member.job->spec->id});
    else
      stop_if_needed(planned, *member.job, out);
  }
}

}  // namespace starling
