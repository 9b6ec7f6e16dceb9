// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/elastic.h"

#include <algorithm>
#include <deque>
#include <tuple>

#include "policies/elastic/round_memory.h"
#include "policies/parts/evict.h"
#include "workload/requirements.h"

namespace starling {
namespace {

std::uint32_t workers_of(const JobView& job) {
  return static_cast<std::uint32_t>(job.placement.size()) / std::max(job.spec->gpus_per_worker, 1U);
}

}  // namespace

ElasticOptions read_elastic(OptionReader& reader, double round_s) {
  ElasticOptions options;
  options.round =
      from_seconds(reader.number("round", round_s, 1, 86'400,
                                 "seconds; jobs that have waited are given to other partitions "
                                 "at rounds alone"));
  options.between = reader.choice("between", {"start", "wait"},
                                  "start: jobs that fit start between rounds, too") == "start";
  return options;
}

bool read_grows(OptionReader& reader, bool otherwise) {
  using Values = std::vector<std::string_view>;
  return reader.choice("spread", otherwise ? Values{"grow", "asked"} : Values{"asked", "grow"},
                       "grow: jobs grow over partitions where no job waits, and come back; asked: "
                       "gangs over partitions are as large as they ask to be") == "grow";
}

ElasticPolicy::ElasticPolicy(PolicyFacts facts, const ElasticOptions& options,
                             std::unique_ptr<Division> division)
    : facts_(facts),
      between_(options.between),
      division_(std::move(division)),
      rounds_({false, Fit::server}),
      over_(options.round, options.grows) {
  facts_.round = options.round;
}

std::vector<Decision> ElasticPolicy::decide(const View& all, const Trigger& trigger, Rng&) {
  return rounds_.decide(all, trigger, facts_.round, routing_, [this](const View& view) {
    return Rounds::Steps{
        .observe =
            [this, &view] {
              progress_.observe(view);
              division_->observe(view);
              over_.observe(view);
            },
        .plan = [this, &view](RoundPlan& plan, auto& out) { plan_round(view, plan, out); },
        .between = [this, &view](RoundPlan& plan, auto& out) { between_rounds(view, plan, out); }};
  });
}

std::vector<std::string> ElasticPolicy::explain_now(const View& view, const JobView& job) const {
  // It may be asked before the first decide(), or the first with that job.
  if (!rounds_.knows_partition() || !progress_.knows(job.spec->id)) return {};
  Share share = share_of(job);
  share.workers = share.now;
  return division_->explain_now(call(view), capacity_of(view.gpus), share);
}

std::vector<std::byte> ElasticPolicy::save(Instant origin) const {
  MemoryWriter curves;
  division_->save(curves);
  return save_rounds(rounds_, progress_, origin, curves.bytes());
}

Status ElasticPolicy::restore(std::span<const std::byte> memory, Instant origin) {
  return restore_rounds(memory, origin, rounds_, progress_,
                        [&](MemoryReader& in) { division_->restore(in); });
}

ElasticCall ElasticPolicy::call(const View& view) const {
  return {view, rounds_.shape(), rounds_.empty()};
}

Resize ElasticPolicy::resize(const View& view, const JobSpec& job, Placement to) const {
  const Allocation how = division_->allocation(call(view), job, to);
  return {job.id, std::move(to), how};
}

ElasticPolicy::Share ElasticPolicy::share_of(const JobView& job) const {
  const JobSpec& spec = *job.spec;
  Share share;
  share.job = &job;
  share.least = spec.elastic() ? std::max(spec.min_workers, 1U) : spec.workers;
  share.most = spec.elastic() ? spec.max_workers : spec.workers;
  share.left_s = progress_.left_s(spec);
  share.now = workers_of(job);
  return share;
}

/// A division after which no job is stopped for less than that gains, and none shrinks for nothing.
void ElasticPolicy::divide_worthwhile(const View& view, const Capacity& all, Capacity left,
                                      Shares& shares) {
  std::vector<std::uint32_t> sure;
  for (const Share& share : shares) sure.push_back(share.workers);
  for (bool again = true; again;) {
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i].workers = sure[i];
    division_->divide(call(view), all, left, shares);
    again = false;
    for (Share& share : shares) {
      if (share.now < share.least || share.workers <= share.now || share.most == share.now)
        continue;
      if (division_->worth_a_restart(call(view), share)) continue;
      share.most = share.now;
      again = true;
    }
  }
  if (!division_->knows_speeds()) return;
  for (std::size_t i = 0; i < shares.size(); ++i)
    (void)left.take(all, *shares[i].job->spec, shares[i].workers - sure[i]);
  for (Share& share : shares) {
    if (share.workers == 0 || share.workers >= share.now || share.now > share.most) continue;
    if (!division_->no_sooner(call(view), share)) continue;
    if (left.take(all, *share.job->spec, share.now - share.workers)) share.workers = share.now;
  }
}

void ElasticPolicy::plan_round(const View& view, RoundPlan& plan, std::vector<Decision>& out) {
  Occupancy planned = view.gpus;
  Shares shares;
  Capacity left = capacity_of(planned);
  const Capacity all = left;
  for (const JobView& job : view.waiting) {
    if (!job.blocked) shares.push_back(share_of(job));
  }
  std::deque<JobView> called;  // gangs that are, with what they have here
  for (const JobView& job : view.running) {
    if (OverPartitions::is_away(view, job) && over_.is_called_home(view, job)) {
      called.push_back(job);
      called.back().placement = OverPartitions::part_here(view, job);
      continue;
    }
    if (!lies_here(view.gpus, job.placement)) continue;
    if (job.blocked) {
      left.cpus -= std::min(left.cpus, cpus_of_worker(*job.spec) * workers_of(job));
    } else {
      planned.give_back(job.placement, demand_of(*job.spec));
      shares.push_back(share_of(job));
    }
  }
  for (const JobView& gang : called) {
    planned.give_back(gang.placement, demand_of(*gang.spec));
    shares.push_back(share_of(gang));
    shares.back().now = 0;  // whatever it gets, it stops
    shares.back().called = true;
    over_.note_called(view, gang);
  }
  left.gpus = planned.free_count();
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return std::tie(b.job->spec->priority, a.job->submitted, a.job->order) <
           std::tie(a.job->spec->priority, b.job->submitted, b.job->order);
  });
  division_->begin_round(call(view));
  divide_worthwhile(view, all, left, shares);
  place_shares(view, all, planned, shares, plan, out);
  if (view.others.empty()) return;
  std::erase_if(shares, [](const Share& share) { return share.called; });
  const auto runs = std::stable_partition(shares.begin(), shares.end(), [](const Share& share) {
    return share.job->placement.empty();
  });
  over_.start(call(view), *division_, {shares.begin(), runs}, planned, out);
  if (plan.empty()) over_.grow(call(view), *division_, {runs, shares.end()}, planned, out);
}

/// The places of those that get more or fewer workers than they have, in the order of `moves`,
/// whose `workers` come out as what there was room for. `left`: CPUs that the others leave.
std::vector<std::optional<Placement>> ElasticPolicy::find_places(const View& view,
                                                                 const Capacity& all, Capacity left,
                                                                 Shares& moves,
                                                                 Occupancy& planned) {
  std::vector<std::optional<Placement>> to(moves.size());
  bool fell_short = false;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    Share& share = moves[i];
    const JobSpec& job = *share.job->spec;
    to[i] = division_->choose(call(view), planned, share);
    const auto has = to[i] ? static_cast<std::uint32_t>(to[i]->size()) / job.gpus_per_worker : 0;
    if (has < share.workers) {
      share.most = share.workers = has;
      division_->fell_short(job.id, has);
      fell_short = true;
    }
    left.cpus -= cpus_of_worker(job) * has;
    if (to[i]) planned.take(*to[i], demand_of(job));
  }
  if (!fell_short) return to;
  // What found no place goes to the next that was placed anew in any case.
  left.gpus = planned.free_count();
  left.cpus = std::max(left.cpus, 0.0);
  Shares more = moves;
  std::erase_if(more, [](const Share& share) { return share.workers == 0; });
  division_->divide(call(view), all, left, more);
  for (const Share& share : more) {
    const auto i =
        static_cast<std::size_t>(std::ranges::find(moves, share.job, &Share::job) - moves.begin());
    if (share.workers == moves[i].workers) continue;
    const Demand each = demand_of(*share.job->spec);
    planned.give_back(*to[i], each);
    if (auto found = division_->choose(call(view), planned, share)) to[i] = std::move(found);
    planned.take(*to[i], each);
  }
  return to;
}

/// A job that keeps its size keeps its place; others by priority, then size, the smallest first.
void ElasticPolicy::place_shares(const View& view, const Capacity& all, Occupancy& planned,
                                 const Shares& shares, RoundPlan& plan,
                                 std::vector<Decision>& out) {
  Shares moves, stayers;
  Capacity left{0, all.cpus};
  for (const Share& share : shares) {
    if (share.workers > 0 && share.workers == share.now) {
      planned.take(share.job->placement, demand_of(*share.job->spec));
      stayers.push_back(share);
      left.cpus -= cpus_of_worker(*share.job->spec) * share.workers;
    } else {
      moves.push_back(share);
    }
  }
  const auto want = [](const Share& s) { return s.workers * s.job->spec->gpus_per_worker; };
  std::stable_sort(moves.begin(), moves.end(), [&](const Share& a, const Share& b) {
    return std::pair(-std::int64_t{a.job->spec->priority}, want(a)) <
           std::pair(-std::int64_t{b.job->spec->priority}, want(b));
  });
  auto to = find_places(view, all, left, moves, planned);
  std::vector<Decision> resizes;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const JobSpec& job = *moves[i].job->spec;
    const Placement& now = moves[i].job->placement;
    const bool called = moves[i].called;
    if (!called && !now.empty() && to[i] == now && fits_now(view.gpus, now, *moves[i].job))
      continue;
    const Allocation how = to[i] ? division_->allocation(call(view), job, *to[i]) : Allocation{};
    called ? plan.move(view, *moves[i].job, std::move(to[i]), how, out, resizes)
           : plan.bring(view, *moves[i].job, std::move(to[i]), how, out, resizes);
  }
  if (division_->knows_speeds()) move_stayers(view, planned, stayers, resizes);
  if (division_->reallocates()) reallocate_stayers(view, stayers, resizes);
  out.insert(out.end(), resizes.begin(), resizes.end());
}

void ElasticPolicy::reallocate_stayers(const View& view, const Shares& stayers,
                                       std::vector<Decision>& out) const {
  for (const Share& share : stayers) {
    Resize same = resize(view, *share.job->spec, share.job->placement);
    if (same.allocation != share.job->allocation) out.emplace_back(std::move(same));
  }
}

/// To GPUs that no job has to leave first.
void ElasticPolicy::move_stayers(const View& view, Occupancy& planned, const Shares& stayers,
                                 std::vector<Decision>& out) const {
  for (const Share& share : stayers) {
    const Placement& own = share.job->placement;
    const Demand each = demand_of(*share.job->spec);
    planned.give_back(own, each);
    auto found = division_->find_workers(call(view), planned, *share.job->spec, share.workers);
    const bool moves = found && *found != own &&
                       division_->worth_a_move(call(view), share, *found) &&
                       fits_now(view.gpus, *found, *share.job);
    planned.take(moves ? *found : own, each);
    if (moves) out.emplace_back(resize(view, *share.job->spec, std::move(*found)));
  }
}

void ElasticPolicy::between_rounds(const View& view, RoundPlan& plan, std::vector<Decision>& out) {
  if (!between_ || view.gpus.free_count() == 0) return;
  Occupancy planned = view.gpus;
  plan.keep_places(planned);
  const Capacity all = capacity_of(planned);
  Capacity left{static_cast<double>(planned.free_count()), all.cpus};
  for (const JobView& job : view.running) {
    if (lies_here(view.gpus, job.placement))
      left.cpus -= std::min(left.cpus, cpus_of_worker(*job.spec) * workers_of(job));
  }
  Shares shares;
  for (const JobView& job : view.waiting) {
    if (!job.blocked && !plan.contains(job.spec->id)) shares.push_back(share_of(job));
  }
  if (!shares.empty()) {
    std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
      return a.job->spec->priority > b.job->spec->priority;
    });
    division_->divide(call(view), all, left, shares);
    return place_shares(view, all, planned, shares, plan, out);
  }
  if (division_->knows_speeds() && view.waiting.empty() && plan.empty())
    divide_among_runners(view, all, left, planned, out);
}

void ElasticPolicy::divide_among_runners(const View& view, const Capacity& all, Capacity left,
                                         Occupancy& planned, std::vector<Decision>& out) {
  Shares shares;
  for (const JobView& job : view.running) {
    if (job.blocked || !lies_here(view.gpus, job.placement)) continue;
    shares.push_back(share_of(job));
    shares.back().workers = shares.back().now;
  }
  divide_worthwhile(view, all, left, shares);
  for (const Share& share : shares) {
    if (share.workers <= share.now) continue;
    const Placement& own = share.job->placement;
    const Demand each = demand_of(*share.job->spec);
    planned.give_back(own, each);
    auto found = division_->choose(call(view), planned, share);
    const bool grows =
        found && found->size() > own.size() && division_->worth_a_move(call(view), share, *found);
    planned.take(grows ? *found : own, each);
    if (grows) out.emplace_back(resize(view, *share.job->spec, std::move(*found)));
  }
}

}  // namespace starling
