// SPDX-License-Identifier: Apache-2.0
#include "policies/gavel/gavel.h"

#include <algorithm>
#include <utility>

#include "interference/gpu_speed.h"
#include "interference/profile.h"
#include "policies/builtin.h"

namespace starling {
namespace {

PolicyFacts facts_for(const GavelOptions& options) {
  PolicyFacts facts{.name = options.name,
                    .summary = options.summary,
                    .family = Family::order,
                    .preemptive = true,
                    .round = options.round};
  facts.shares_gpus = options.sharing;
  if (options.objective == GavelObjective::finish_time_fairness ||
      options.objective == GavelObjective::makespan)
    facts.lengths = LengthSource::estimates;
  return facts;
}

}  // namespace

GavelPolicy::GavelPolicy(const GavelOptions& options)
    : gavel_(options), rounds_(options.queue), facts_(facts_for(options)) {}

std::vector<Decision> GavelPolicy::decide(const View& all, const Trigger& trigger, Rng& rng) {
  return rounds_.decide(all, trigger, facts_.round, routing_, [&](const View& view) {
    return Rounds::Steps{
        .observe = [this, &view] { observe(view); },
        .plan = [&](RoundPlan& plan, auto& out) { plan_round(view, rng, plan, out); }};
  });
}

void GavelPolicy::learn_types(const View& view) {
  if (accounts_) return;
  std::map<std::string, Type> by_name;
  for (std::uint32_t s = view.gpus.servers().first; s < view.gpus.servers().last; ++s) {
    const Server& server = view.topology.server(ServerId{s});
    if (server.gpus.size() == 0) continue;
    const std::string& name = view.topology.gpu_types()[server.gpu_type.value].name;
    Type& type = by_name.try_emplace(name, Type{name, server.gpu_type, 0}).first->second;
    type.gpus += server.gpus.size();
  }
  for (auto& [name, type] : by_name) types_.push_back(std::move(type));
  for (std::size_t t = 0; t < types_.size(); ++t) fastest_first_.push_back(t);
  std::stable_sort(fastest_first_.begin(), fastest_first_.end(), [&](std::size_t a, std::size_t b) {
    return gpu_speed_factor(types_[a].name) > gpu_speed_factor(types_[b].name);
  });
  accounts_.emplace(types_.size(), gavel_.round);
  if (restored_) take_up(view, *std::exchange(restored_, std::nullopt));
}

std::optional<Placement> GavelPolicy::find_on(const Occupancy& gpus, const JobSpec& job,
                                              const std::string& type) const {
  JobSpec only = job;
  only.gpu_types = {type};
  auto found = place(gpus, rounds_.shape(), only, Fit::server);
  if (!found && gavel_.queue.fit == Fit::count)
    found = place(gpus, rounds_.shape(), only, Fit::count);
  return found;
}

/// Asked of a representative placement: the first that an empty partition offers.
std::vector<double> GavelPolicy::speeds(const View& view, const JobSpec& job) const {
  std::vector<double> out(types_.size(), 0.0);
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const bool allowed = job.gpu_types.empty() ||
                         std::find(job.gpu_types.begin(), job.gpu_types.end(), types_[t].name) !=
                             job.gpu_types.end();
    if (!allowed || job.gpus() > types_[t].gpus) continue;
    const auto placement = find_on(rounds_.empty(), job, types_[t].name);
    if (!placement) continue;
    const double speed = view.speed.speed(profile_of(job), *placement, {}).relative;
    out[t] = gavel_.aware || speed <= 0 ? speed : 1.0;  // where it cannot run is no secret
  }
  return out;
}

std::optional<std::size_t> GavelPolicy::type_of(const View& view,
                                                const Placement& placement) const {
  if (placement.empty()) return std::nullopt;
  const GpuTypeId id = view.topology.type_of(placement.front());
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if (types_[t].id == id) return t;
  }
  return std::nullopt;
}

bool GavelPolicy::runs_on_one_type(JobId job) const {
  const auto& speed = known_.at(job).speed;
  return std::any_of(speed.begin(), speed.end(), [](double s) { return s > 0; });
}

void GavelPolicy::see(const View& view, const JobView& job) {
  const auto [entry, fresh] = known_.try_emplace(job.spec->id);
  Known& known = entry->second;
  known.seen = true;
  if (fresh) {
    known.served = job.served;
    known.done = seconds(job.served);  // what it did elsewhere, at full speed for want of knowing
    known.done_at_reset = known.done;
    accounts_->enter(job.spec->id);
    changed_ = true;
  }
  if (known.speed.empty()) {
    known.speed = speeds(view, *job.spec);
    if (shares(view)) known.kind = kind_of(*job.spec);
  }
  const Duration more = job.served - known.served;
  if (more > Duration::zero() && known.runs) {
    count(job.spec->id, known, more);
    const double speed = known.beside ? known.speed_beside : known.speed[*known.runs];
    known.done += seconds(more) * (speed > 0 ? speed : 1.0);
  }
  known.served = job.served;
  known.runs = type_of(view, job.placement);
}

void GavelPolicy::observe(const View& view) {
  learn_types(view);
  for (auto& [job, known] : known_) known.seen = false;
  for (const auto jobs : {view.waiting, view.running}) {
    for (const JobView& job : jobs) see(view, job);
  }
  for (auto it = known_.begin(); it != known_.end();) {
    if (it->second.seen) {
      ++it;
      continue;
    }
    if (it->second.runs) count(it->first, it->second, view.now - last_seen_);
    accounts_->leave(it->first);
    changed_ = true;
    it = known_.erase(it);
  }
  if (shares(view)) see_neighbours(view);
  last_seen_ = view.now;
  if (!known_.empty()) ++observed_;
}

void GavelPolicy::count(JobId job, const Known& known, Duration more) {
  if (known.beside) {  // both of them say so
    accounts_->receive({std::min(job, *known.beside), std::max(job, *known.beside)}, *known.runs,
                       more / 2);
  } else {
    accounts_->receive({job, std::nullopt}, *known.runs, more);
  }
}

void GavelPolicy::allocate(const View& view, Rng& rng) {
  const Instant last = accounts_->last_reset();
  if (!changed_ || (last != Instant{} && view.now - last < gavel_.between_resets)) return;
  changed_ = false;
  GavelProblem problem;
  for (const Type& type : types_) problem.gpus.push_back(type.gpus);
  std::vector<const JobView*> jobs;
  for (const auto side : {view.waiting, view.running}) {
    for (const JobView& job : side) {
      if (runs_on_one_type(job.spec->id)) jobs.push_back(&job);
    }
  }
  std::sort(jobs.begin(), jobs.end(), [](const JobView* a, const JobView* b) {
    return std::tie(b->spec->priority, a->submitted, a->spec->id) <
           std::tie(a->spec->priority, b->submitted, b->spec->id);
  });
  for (const JobView* job : jobs) {
    Known& known = known_.at(job->spec->id);
    if (known.isolated_speed > 0) {
      known.isolated_s += (known.done - known.done_at_reset) / known.isolated_speed;
    }
    known.done_at_reset = known.done;
    // A job that has outlived its estimate counts as nearly done.
    const double left = std::max(seconds(job->spec->duration) - known.done, 1.0);
    problem.rows.push_back({job->spec->id, job->spec->gpus(), known.speed, left,
                            seconds(view.now - job->submitted), known.isolated_s});
  }
  for (const GavelProblem::Row& row : problem.rows) {
    known_.at(row.job).isolated_speed = isolated_speed(problem, row);
  }

  std::map<GavelCombination, std::vector<double>> by_jobs;
  const auto id = [&](std::size_t row) { return problem.rows[row].job; };
  together_.clear();
  if (shares(view)) {
    GavelShares shares = allocate_shared(view, problem);
    for (auto& [rows, times] : shares.together) {
      const JobId first = std::min(id(rows.first), id(rows.second));
      const JobId second = std::max(id(rows.first), id(rows.second));
      std::vector<double> speed(types_.size());
      for (std::size_t t = 0; t < speed.size(); ++t) speed[t] = times[t] > 0 ? 1.0 : 0.0;
      together_.push_back({first, second, std::move(speed)});
      by_jobs.emplace(GavelCombination(first, second), std::move(times));
    }
    for (std::size_t i = 0; i < problem.rows.size(); ++i)
      by_jobs.emplace(GavelCombination(id(i), std::nullopt), std::move(shares.alone[i]));
  } else {
    GavelAllocation allocation = allocate_alone(problem, rng);
    for (std::size_t i = 0; i < problem.rows.size(); ++i)
      by_jobs.emplace(GavelCombination(id(i), std::nullopt), std::move(allocation[i]));
  }
  accounts_->reset(view.now, by_jobs);
}

GavelAllocation GavelPolicy::allocate_alone(const GavelProblem& problem, Rng& rng) {
  switch (gavel_.objective) {
    case GavelObjective::fifo:
      if (gavel_.aware) return fifo_aware(problem);
      if (gavel_.agnostic_fifo) return gavel_.agnostic_fifo(problem);
      return fifo_.allocate(problem, [&](std::uint32_t n) { return rng.below(n); });
    case GavelObjective::max_min_fairness:
      return max_min_fairness(problem);
    case GavelObjective::finish_time_fairness:
      return finish_time_fairness(problem);
    case GavelObjective::makespan:
      return shortest_makespan(problem);
    case GavelObjective::throughput:
      return max_throughput(problem);
  }
  return {};
}

}  // namespace starling
