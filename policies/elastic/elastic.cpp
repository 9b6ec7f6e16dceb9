// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/elastic.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "interference/profile.h"
#include "policies/parts/evict.h"

namespace starling {
namespace {

std::uint32_t workers_of(const JobView& job) {
  return static_cast<std::uint32_t>(job.placement.size()) / std::max(job.spec->gpus_per_worker, 1U);
}

}  // namespace

std::int64_t ElasticPolicy::dominant_share(const Capacity& all, const JobSpec& job,
                                           std::uint32_t workers) {
  const double gpus = job.gpus_per_worker / std::max(all.gpus, 1.0);
  const double cpus = all.cpus > 0 ? job.cpus_per_worker / all.cpus : 0;
  return std::max<std::int64_t>(1, std::llround(std::max(gpus, cpus) * 1e9)) * workers;
}

bool ElasticPolicy::take(Capacity& left, const Capacity& all, const JobSpec& job,
                         std::uint32_t workers) {
  const double gpus = static_cast<double>(job.gpus_per_worker) * workers;
  // Who asks for more CPUs than there are gets them all rather than never running.
  const double cpus = std::min(job.cpus_per_worker * workers, all.cpus);
  constexpr double kSlack = 1e-9;
  if (gpus > left.gpus + kSlack || cpus > left.cpus + kSlack) return false;
  left.gpus -= gpus;
  left.cpus -= cpus;
  return true;
}

double ElasticPolicy::rest_s(const View& view, const Share& share, std::uint32_t workers) {
  const JobSpec& job = *share.job->spec;
  const auto [known, fresh] =
      speeds_.try_emplace(SpeedKey(job.model, job.gpus_per_worker, job.workers, workers,
                                   job.cpus_per_worker, job.gpu_types),
                          1.0);
  if (fresh) {
    const JobProfile profile = profile_of(job, workers * job.gpus_per_worker);
    const auto placement = find_workers(view, empty(), job, workers);
    const double relative = placement ? view.speed.speed(profile, *placement, {}).relative : 1.0;
    known->second = std::max(view.speed.scaling(profile) * relative, 1e-9);
  }
  return share.left_s / known->second;
}

double ElasticPolicy::rest_on_s(const View& view, const Share& share, const Placement& placement) {
  const JobProfile profile =
      profile_of(*share.job->spec, static_cast<std::uint32_t>(placement.size()));
  const double speed =
      view.speed.scaling(profile) * view.speed.speed(profile, placement, {}).relative;
  return share.left_s / std::max(speed, 1e-9);
}

std::optional<Placement> ElasticPolicy::choose(const View& view, const Occupancy& gpus,
                                               const Share& share) const {
  for (std::uint32_t workers = share.workers; workers >= share.least && workers > 0; --workers) {
    if (auto found = find_workers(view, gpus, *share.job->spec, workers)) return found;
  }
  return std::nullopt;
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

ElasticPolicy::Capacity ElasticPolicy::capacity_of(const Occupancy& gpus) {
  Capacity all;
  all.gpus = gpus.gpus().size();
  for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s)
    all.cpus += gpus.topology().server(ServerId{s}).cpus;
  return all;
}

/// A division after which nobody is stopped for less than it gains, and nobody shrinks for nobody.
void ElasticPolicy::divide_worthwhile(const View& view, const Capacity& all, Capacity left,
                                      std::vector<Share>& shares) {
  std::vector<std::uint32_t> sure;
  for (const Share& share : shares) sure.push_back(share.workers);
  for (bool again = true; again;) {
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i].workers = sure[i];
    divide(view, all, left, shares);
    again = false;
    for (Share& share : shares) {
      if (share.now < share.least || share.workers <= share.now || share.most == share.now)
        continue;
      if (worth_a_restart(view, share)) continue;
      share.most = share.now;
      again = true;
    }
  }
  if (!knows_speeds()) return;
  for (std::size_t i = 0; i < shares.size(); ++i)
    (void)take(left, all, *shares[i].job->spec, shares[i].workers - sure[i]);
  for (Share& share : shares) {
    if (share.workers == 0 || share.workers >= share.now || share.now > share.most) continue;
    if (rest_s(view, share, share.workers) < rest_s(view, share, share.now)) continue;
    if (take(left, all, *share.job->spec, share.now - share.workers)) share.workers = share.now;
  }
}

void ElasticPolicy::plan_round(const View& view, Rng&, std::vector<Decision>& out) {
  Occupancy planned = view.gpus;
  std::vector<Share> shares;
  Capacity left = capacity_of(planned);
  const Capacity all = left;
  for (const JobView& job : view.waiting) {
    if (!job.blocked) shares.push_back(share_of(job));
  }
  for (const JobView& job : view.running) {
    if (!lies_here(view.gpus, job.placement)) continue;
    if (job.blocked) {
      left.cpus -= std::min(left.cpus, job.spec->cpus_per_worker * workers_of(job));
    } else {
      planned.give_back(job.placement, demand_of(*job.spec));
      shares.push_back(share_of(job));
    }
  }
  left.gpus = planned.free_count();
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return std::tie(b.job->spec->priority, a.job->submitted, a.job->order) <
           std::tie(a.job->spec->priority, b.job->submitted, b.job->order);
  });
  divide_worthwhile(view, all, left, shares);
  place_shares(view, all, planned, shares, out);
}

/// Who keeps its size keeps its place; the others by priority, then by size, the smallest first.
void ElasticPolicy::place_shares(const View& view, const Capacity& all, Occupancy& planned,
                                 std::vector<Share>& shares, std::vector<Decision>& out) {
  std::vector<Share> moves;
  std::vector<Share> stayers;
  Capacity left{0, all.cpus};
  for (const Share& share : shares) {
    if (share.workers > 0 && share.workers == share.now) {
      planned.take(share.job->placement, demand_of(*share.job->spec));
      stayers.push_back(share);
      left.cpus -= share.job->spec->cpus_per_worker * share.workers;
    } else {
      moves.push_back(share);
    }
  }
  const auto want = [](const Share& s) { return s.workers * s.job->spec->gpus_per_worker; };
  std::stable_sort(moves.begin(), moves.end(), [&](const Share& a, const Share& b) {
    return std::pair(-std::int64_t{a.job->spec->priority}, want(a)) <
           std::pair(-std::int64_t{b.job->spec->priority}, want(b));
  });
  std::vector<std::optional<Placement>> to(moves.size());
  bool fell_short = false;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    Share& share = moves[i];
    const JobSpec& job = *share.job->spec;
    to[i] = choose(view, planned, share);
    const auto has = to[i] ? static_cast<std::uint32_t>(to[i]->size()) / job.gpus_per_worker : 0;
    if (has < share.workers) share.most = share.workers = has, fell_short = true;
    left.cpus -= job.cpus_per_worker * has;
    if (to[i]) planned.take(*to[i], demand_of(job));
  }
  if (fell_short) {
    // What found no place goes to whoever is next and was placed anew in any case.
    left.gpus = planned.free_count();
    left.cpus = std::max(left.cpus, 0.0);
    std::vector<Share> more = moves;
    std::erase_if(more, [](const Share& share) { return share.workers == 0; });
    divide(view, all, left, more);
    for (const Share& share : more) {
      const auto same = [&](const Share& s) { return s.job == share.job; };
      const auto i =
          static_cast<std::size_t>(std::find_if(moves.begin(), moves.end(), same) - moves.begin());
      if (share.workers == moves[i].workers) continue;
      const Demand each = demand_of(*share.job->spec);
      planned.give_back(*to[i], each);
      if (auto found = choose(view, planned, share)) to[i] = std::move(found);
      planned.take(*to[i], each);
    }
  }
  std::vector<Decision> resizes;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const JobId job = moves[i].job->spec->id;
    const Placement& now = moves[i].job->placement;
    if (now.empty()) {
      if (to[i]) plan_.push_back({job, std::move(*to[i])});
      continue;
    }
    const bool at_once =
        to[i] && view.gpus.has_means(*to[i], demand_of(*moves[i].job->spec), now) &&
        std::all_of(to[i]->begin(), to[i]->end(), [&](GpuId gpu) {
          return view.gpus.is_free(gpu) || std::binary_search(now.begin(), now.end(), gpu);
        });
    if (at_once) {
      if (*to[i] != now) resizes.emplace_back(Resize{job, std::move(*to[i])});
      continue;
    }
    out.emplace_back(Preempt{job});
    if (to[i]) plan_.push_back({job, std::move(*to[i])});
  }
  if (knows_speeds()) move_stayers(view, planned, stayers, resizes);
  out.insert(out.end(), resizes.begin(), resizes.end());
}

/// To GPUs that nobody has to leave first.
void ElasticPolicy::move_stayers(const View& view, Occupancy& planned,
                                 const std::vector<Share>& stayers,
                                 std::vector<Decision>& out) const {
  for (const Share& share : stayers) {
    const Placement& own = share.job->placement;
    const Demand each = demand_of(*share.job->spec);
    planned.give_back(own, each);
    auto found = find_workers(view, planned, *share.job->spec, share.workers);
    const bool moves =
        found && *found != own && worth_a_move(view, share, *found) &&
        view.gpus.has_means(*found, each, own) &&
        std::all_of(found->begin(), found->end(), [&](GpuId gpu) {
          return view.gpus.is_free(gpu) || std::binary_search(own.begin(), own.end(), gpu);
        });
    planned.take(moves ? *found : own, each);
    if (moves) out.emplace_back(Resize{share.job->spec->id, std::move(*found)});
  }
}

void ElasticPolicy::between_rounds(const View& view, std::vector<Decision>& out) {
  if (!between_ || view.gpus.free_count() == 0) return;
  Occupancy planned = view.gpus;
  for (const Planned& plan : plan_) keep(planned, plan.placement);
  const Capacity all = capacity_of(planned);
  Capacity left{static_cast<double>(planned.free_count()), all.cpus};
  for (const JobView& job : view.running) {
    if (lies_here(view.gpus, job.placement))
      left.cpus -= std::min(left.cpus, job.spec->cpus_per_worker * workers_of(job));
  }
  std::vector<Share> shares;
  for (const JobView& job : view.waiting) {
    if (!job.blocked && !is_planned(job.spec->id)) shares.push_back(share_of(job));
  }
  if (!shares.empty()) {
    std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
      return a.job->spec->priority > b.job->spec->priority;
    });
    divide(view, all, left, shares);
    return place_shares(view, all, planned, shares, out);
  }
  if (!knows_speeds() || !view.waiting.empty() || !plan_.empty()) return;
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
    auto found = choose(view, planned, share);
    const bool grows = found && found->size() > own.size() && worth_a_move(view, share, *found);
    planned.take(grows ? *found : own, each);
    if (grows) out.emplace_back(Resize{share.job->spec->id, std::move(*found)});
  }
}

}  // namespace starling
