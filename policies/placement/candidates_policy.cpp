// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/candidates_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace starling {

std::vector<Decision> PlacementPolicy::decide(const View& view, const Trigger& trigger, Rng& rng) {
  candidates_.sync(view, facts().shares_gpus);
  if (follow_) remaining_.follow(candidates_.residents(), view.now);
  if (minimum_gain()) elsewhere_.begin(view);
  given_ = 0;
  return QueuePolicy::decide(view, trigger, rng);
}

PlacementOrder read_placement_order(OptionReader& reader, PlacementOrder otherwise) {
  constexpr const char* kHelp =
      "who is asked about first; forecast: by the GPU time that others of the same user, queue and "
      "gang size took";
  const std::string order = otherwise == PlacementOrder::arrival
                                ? reader.choice("order", {"arrival", "forecast"}, kHelp)
                                : reader.choice("order", {"forecast", "arrival"}, kHelp);
  return order == "arrival" ? PlacementOrder::arrival : PlacementOrder::forecast;
}

/// Positions in the queue.
std::span<const std::size_t> PlacementPolicy::turns(Instant now) {
  const auto queue = index_.queue();
  turns_.resize(queue.size());
  std::iota(turns_.begin(), turns_.end(), 0U);
  if (order_ == PlacementOrder::arrival) return turns_;
  areas_.resize(queue.size());
  for (std::size_t i = 0; i < queue.size(); ++i)
    areas_[i] = queue[i].gpus * remaining_.left(index_.job(queue[i]), now);
  std::ranges::stable_sort(turns_, [&](std::size_t a, std::size_t b) {
    return std::tie(queue[b].priority, areas_[a]) < std::tie(queue[a].priority, areas_[b]);
  });
  return turns_;
}

std::uint64_t PlacementPolicy::length_of(std::size_t turn) const {
  if (order_ == PlacementOrder::arrival) return 1;
  const double left = areas_[turn] / index_.queue()[turn].gpus;
  return std::uint64_t{1} << static_cast<unsigned>(std::clamp(std::ilogb(left) / 2, 0, 63));
}

void PlacementPolicy::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  refused_.resize(index_.looks());
  refused_here_.resize(index_.looks());
  const bool together = elsewhere_.any();
  candidates_.plan_on(trial.gpus(), shape());
  waiting_gpus_ = static_cast<double>(index_.total_gpus());
  const auto queue = index_.queue();
  for (const std::size_t i : turns(view.now)) {
    const QueueEntry& entry = queue[i];
    if (taken_[i]) continue;
    // Those that have moved as often have as many ways left, but for who exactly refused them.
    const std::uint64_t version = candidates_.version() + elsewhere_.version();
    const JobView* job = nullptr;
    if (together) job = &index_.job(entry);
    const std::uint64_t state =
        together ? (version << 12U) + std::min(job->forwards, 4095U) : version;
    const std::uint64_t length = length_of(i);
    const bool hope = (!entry.homeless || together) && !refused_[entry.look].stands(state, length);
    if (!hope && !options().strict) {
      passed_over(entry);
      continue;
    }
    if (job == nullptr) job = &index_.job(entry);
    if (job->blocked) continue;
    if (hope) {
      const Wish wish = candidates_.wish(*job->spec, entry.look);
      later_ = false;
      destinations_.clear();
      if (together && given_ < kForwardsPerCall) {
        tries_ = candidates_.sharing() && elsewhere_.may_try(*job);
        queue_ = waiting_gpus_ / std::max(1U, view.gpus.gpus().size());
        const JobProfile& profile = candidates_.residents().profile(wish.profile);
        later_ = elsewhere_.find(view, entry, *job, wish, profile, *minimum_gain(), destinations_);
      }
      // The places here are those that it has refused, so only another agent can be news.
      const bool leaves = later_ || !destinations_.empty();
      const std::uint64_t here = candidates_.version() * 2 + (leaves ? 1 : 0);
      if (together && refused_here_[entry.look].stands(here, length) && alike(*job) &&
          better_elsewhere(wish, std::nullopt) == nullptr) {
        passed_over(entry);
        continue;
      }
      Answer answer = choose(view, wish, *job);
      const Demand each = demand_of(*job->spec);
      if (answer.here && !trial.gpus().has_means(*answer.here, each))
        answer.here = candidates_.with_means(wish);
      if (answer.here) {
        trial.take(*answer.here, each);
        candidates_.start(*job, *answer.here);
        out.emplace_back(Start{job->spec->id, std::move(*answer.here)});
        taken_.mark(i);
        waiting_gpus_ -= entry.gpus;
        continue;
      }
      if (answer.there != nullptr) {
        give_away(view, entry, *job, *answer.there, out);
        taken_.mark(i);
        continue;
      }
      if (alike(*job) && !later_) refused_[entry.look].add(state, length);
      refused_here_[entry.look].add(here, length);
    }
    passed_over(entry);
    // A gang that no data centre of this size can hold must not stop everyone for good.
    if (options().strict && entry.gpus <= view.topology.gpu_count()) return;
  }
}

void PlacementPolicy::give_away(const View& view, const QueueEntry& entry, const JobView& job,
                                const Destination& to, std::vector<Decision>& out) {
  out.emplace_back(Forward{job.spec->id, to.to});
  elsewhere_.give(view, to, *job.spec);
  waiting_gpus_ -= entry.gpus;
  ++given_;
}

double PlacementPolicy::best_alone(const Wish& wish) {
  const double here = candidates_.alone(wish, empty());
  if (!later_ && destinations_.empty()) return here;
  return std::max(here, elsewhere_.best(wish, candidates_.residents().profile(wish.profile)));
}

const Destination* PlacementPolicy::better_elsewhere(const Wish& wish,
                                                     std::optional<std::int64_t> slowdown) {
  if (destinations_.empty()) return nullptr;
  constexpr double kForever = std::numeric_limits<double>::infinity();
  const double here_now =
      slowdown ? static_cast<double>(*slowdown) / static_cast<double>(kGpu) : kForever;
  if (const Destination* faster = Elsewhere::faster(destinations_, here_now)) return faster;
  if (slowdown) return nullptr;
  const double here = candidates_.alone(wish, empty());
  const bool enough = here > 0 && here >= minimum_gain().value_or(0) * best_alone(wish);
  return Elsewhere::better_queue(destinations_, enough ? here : 0, queue_, tries_);
}

void PlacementPolicy::cooperate(const View& view, Trial& trial, std::vector<Decision>& out) {
  if (!elsewhere_.any()) return QueuePolicy::cooperate(view, trial, out);
  gangs_.begin(view.now);
  const auto queue = index_.queue();
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const QueueEntry& entry = queue[i];
    if (taken_[i] || entry.gpus == 1) continue;
    if (!entry.homeless && view.now - entry.submitted < kPatience) continue;
    const JobView& job = index_.job(entry);
    if (job.blocked || !spread(view, entry, job, trial, out)) continue;
    taken_.mark(i);
    return;
  }
}

/// Asks the flock for GPUs of the fastest type of which it has enough in all.
bool PlacementPolicy::spread(const View& view, const QueueEntry& entry, const JobView& job,
                             Trial& trial, std::vector<Decision>& out) {
  if (!gangs_.may_ask(entry)) return false;
  const Wish wish = candidates_.wish(*job.spec, entry.look);
  const JobProfile& profile = candidates_.residents().profile(wish.profile);
  const double least = std::max(*minimum_gain() * elsewhere_.best(wish, profile), 1e-9);
  const FreeServers& free = candidates_.free();
  double best = 0;
  GpuTypeId type;
  std::uint32_t kind = free.kinds();
  for (const GpuTypeId t : elsewhere_.types()) {
    const double speed = elsewhere_.speeds().alone(wish, profile, t);
    if (speed < least || speed <= best) continue;
    std::uint32_t k = free.kinds() > 1 ? 1 : 0;
    while (k < free.kinds() && free.type(k) != t) ++k;
    std::uint64_t here = k < free.kinds() ? free.free_count(k) : 0;
    if (entry.needy) here = std::min(here, free_of_type(trial.gpus(), t, *job.spec));
    if (here + elsewhere_.free_of(view, t, *job.spec) < entry.gpus) continue;
    best = speed;
    type = t;
    kind = k;
  }
  if (best <= 0) return false;
  Placement share;
  if (kind < free.kinds()) {
    const std::uint32_t worker = std::max(wish.worker, 1U);
    std::uint32_t some = std::min(free.free_count(kind), entry.gpus) / worker * worker;
    for (; some > 0 && share.empty(); some -= worker)
      share = free.tight(kind, some, worker).value_or(Placement{});
  }
  const Demand each = demand_of(*job.spec);
  if (!trial.gpus().has_means(share, each)) {
    share =
        place_workers(trial.gpus(), static_cast<std::uint32_t>(share.size()), wish.worker, each);
    std::erase_if(share, [&](GpuId gpu) { return view.topology.type_of(gpu) != type; });
  }
  gangs_.ask(view, entry, job, std::move(share), type, trial, out);
  return true;
}

}  // namespace starling
