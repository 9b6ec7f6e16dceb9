// SPDX-License-Identifier: Apache-2.0
// What a round of Sia's policy gives each job, where, and how that is carried out.
#include <algorithm>
#include <limits>
#include <utility>

#include "policies/partitions/moves.h"
#include "policies/parts/evict.h"
#include "policies/sia/sia.h"
#include "scheduling/packing.h"

namespace starling {
namespace {

using Row = SiaProblem::Row;
using Choice = SiaProblem::Choice;

/// Every job keeps what it has; one that waits gets its smallest size, where it is fastest, while
/// there is some.
SiaAnswer keep_all(const SiaProblem& problem) {
  SiaAnswer answer{{}, false};
  std::vector<std::uint32_t> left;
  for (const SiaProblem::Type& type : problem.types) left.push_back(type.gpus);
  const auto take = [&](const Choice& choice) {
    left[choice.type] -= std::min(left[choice.type], choice.gpus);
  };
  for (const Row& row : problem.rows) {
    answer.taken.push_back(row.now);
    if (row.now) take(row.choices[*row.now]);
  }
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    const Row& row = problem.rows[i];
    if (row.now) continue;
    const auto better = [&](std::size_t a, std::size_t b) {
      return std::pair(row.choices[a].gpus, -row.choices[a].goodput) <
             std::pair(row.choices[b].gpus, -row.choices[b].goodput);
    };
    std::optional<std::size_t>& best = answer.taken[i];
    for (std::size_t c = 0; c < row.choices.size(); ++c) {
      if (row.choices[c].gpus <= left[row.choices[c].type] && (!best || better(c, *best))) best = c;
    }
    if (best) take(row.choices[*best]);
  }
  return answer;
}

}  // namespace

void SiaPolicy::plan_mixed(const View& view, const JobView& job, Occupancy& planned,
                           RoundPlan& plan) const {
  if (view.now - job.submitted < kPatience) return;
  JobSpec smallest = *job.spec;
  smallest.workers = least_gpus_of(smallest) / std::max(smallest.gpus_per_worker, 1U);
  auto found = place(planned, rounds_.shape(), smallest, Fit::server);
  if (!found) found = place(planned, rounds_.shape(), smallest, Fit::count);
  if (!found) return;
  planned.take(*found, demand_of(*job.spec));
  plan.add({job.spec->id, *std::move(found)});
}

SiaAnswer SiaPolicy::solve(const View& view, const SiaProblem& problem,
                           const std::vector<const JobView*>& jobs) {
  auto solved = solve_sia(problem, sia_.objective, sia_.solver);
  const std::string trouble = solved ? "" : solved.error().message;
  SiaAnswer answer = solved ? std::move(solved).value() : keep_all(problem);
  std::vector<std::string> types;
  for (const GpuTypeId type : goodputs_.types())
    types.push_back(view.topology.gpu_types()[type.value].name);
  std::vector<JobId> ids;
  ids.reserve(jobs.size());
  for (const JobView* job : jobs) ids.push_back(job->spec->id);
  reasons_.note(view.now, std::move(types), std::move(ids), problem, answer, trouble);
  return answer;
}

/// Where it runs, if no other has been given that, or by the cheapest of its smaller choices that
/// has room.
void SiaPolicy::place_smaller(Occupancy& planned, SiaGrant& grant, const Row& row) const {
  if (row.now && is_left(planned, *grant.job)) {
    grant.place = grant.job->placement;
    return planned.take(*grant.place, demand_of(*grant.job->spec));
  }
  double best = std::numeric_limits<double>::infinity();
  SiaGrant taken;
  for (std::size_t c = 0; c < row.choices.size(); ++c) {
    const Choice& choice = row.choices[c];
    const double cost = sia_cost(row, c, sia_.objective);
    if (cost >= std::min(best, sia_.objective.idle)) continue;
    const GpuTypeId type = goodputs_.types()[choice.type];
    if (type == grant.type && choice.gpus >= grant.gpus) continue;
    auto found = goodputs_.find_place(planned, *grant.job->spec, type, choice.gpus);
    if (!found) continue;
    best = cost;
    taken = {grant.job, type, choice.gpus, false, std::move(found)};
  }
  if (!taken.place) return;
  grant = std::move(taken);
  planned.take(*grant.place, demand_of(*grant.job->spec));
}

void SiaPolicy::carry_out(const View& view, std::vector<SiaGrant>& grants, RoundPlan& plan,
                          std::vector<Decision>& out) {
  std::vector<Decision> resizes;
  for (SiaGrant& grant : grants) {
    if (grant.place == grant.job->placement) continue;
    const Allocation how =
        grant.place ? goodputs_.allocation(view, *grant.job->spec, *grant.place) : Allocation{};
    plan.bring(view, *grant.job, std::move(grant.place), how, out, resizes);
  }
  out.insert(out.end(), resizes.begin(), resizes.end());
}

/// The places of all that the answer gives something, and of those that it does not but whose place
/// no other needs; any other that runs is stopped.
std::vector<SiaGrant> SiaPolicy::grants_of(const SiaProblem& problem, const SiaAnswer& answer,
                                           const std::vector<const JobView*>& jobs,
                                           Occupancy& planned, std::vector<Decision>& out) const {
  std::vector<SiaGrant> grants;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!answer.taken[i]) continue;
    const Row& row = problem.rows[i];
    const Choice& choice = row.choices[*answer.taken[i]];
    const bool stays = row.now == answer.taken[i] && is_left(planned, *jobs[i]);
    grants.push_back({jobs[i], goodputs_.types()[choice.type], choice.gpus, stays});
    rows.push_back(i);
  }
  place_grants(planned, grants, [&](const Occupancy& gpus, const SiaGrant& grant) {
    return goodputs_.find_place(gpus, *grant.job->spec, grant.type, grant.gpus);
  });
  for (std::size_t k = 0; k < grants.size(); ++k) {
    if (!grants[k].place) place_smaller(planned, grants[k], problem.rows[rows[k]]);
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!answer.taken[i] && problem.rows[i].now) stop_if_needed(planned, *jobs[i], out);
  }
  return grants;
}

void SiaPolicy::plan_round(const View& view, RoundPlan& plan, std::vector<Decision>& out) {
  Occupancy planned = view.gpus;
  std::vector<const JobView*> jobs;
  SiaProblem problem;
  for (const JobView* job : members_of(view, planned)) {
    Row row = row_of(view, *job);
    if (row.choices.empty()) {
      plan_mixed(view, *job, planned, plan);
      continue;
    }
    jobs.push_back(job);
    problem.rows.push_back(std::move(row));
  }
  set_capacity(view, planned, problem);
  const SiaAnswer answer = solve(view, problem, jobs);
  std::vector<SiaGrant> grants = grants_of(problem, answer, jobs, planned, out);
  carry_out(view, grants, plan, out);
}

}  // namespace starling
