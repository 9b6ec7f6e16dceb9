// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <iterator>

#include "agents/home/same_prices.h"
#include "agents/home/turn.h"
#include "agents/step/home_step.h"
#include "base/marks.h"
#include "workload/job_size.h"
#include "workload/requirements.h"

namespace starling {
namespace {

// Hints age and patience runs out without an event, so those who wait get another look now and
// then.
constexpr Duration kDecideAgain = std::chrono::seconds(60);

/// This partition and its jobs as they are; without what others said, and what has changed since a
/// decision.
View own_view(AgentState& s, const Occupancy& gpus, Instant now) {
  return {.topology = s.topology,
          .gpus = gpus,
          .waiting = s.home.waiting.views(),
          .running = s.home.running.views(now),
          .others = {},
          .speed = s.speed,
          .now = now,
          .me = s.config.me,
          .ends = s.home.running.ends()};
}

}  // namespace

RemoteDigest said_by(const PeerState& peer) {
  const Digest& digest = *peer.digest;
  return {peer.peer.agent,
          peer.peer.partition.id,
          digest.gpus,
          digest.free,
          digest.largest_free_server,
          digest.whole_free_servers,
          digest.waiting,
          digest.waiting_gpus,
          peer.digest_at,
          peer.peer.partition.servers,
          digest.types,
          digest.summary,
          digest.rooms,
          digest.version,
          digest.prices};
}

/// For explain(), as of any moment: it is not a decision that looks.
View view_for_people(AgentState& s, Instant now) {
  return own_view(s, s.owner.open_to(std::nullopt, now), now);
}

View OwnerStep::view(const Occupancy& gpus) {
  s.flock.others.clear();
  for (const PeerState& peer : s.flock.peers) {
    if (peer.peer.agent == me() || !peer.digest || !reachable(peer.watch)) continue;
    // Where nothing gets lost a digest stands until the next one.
    s.flock.others.push_back(said_by(peer));
    if (!s.lossy()) s.flock.others.back().at = now;
  }
  View view = own_view(s, gpus, now);
  view.others = s.flock.others;
  view.waiting_changes = &s.home.waiting.changes();
  view.departed = s.home.departed;
  return view;
}

/// The policy proposes, the ledger and the jobs dispose: what they contradict is counted, told to
/// the policy, and has no effect.
void HomeStep::decide() {
  STARLING_MARK("agent: decide");
  const Trigger trigger{s.deciding.trigger};
  s.deciding.due = false;
  s.deciding.next = s.deciding.again = kNever;
  if (s.home.waiting_jobs() == 0 && !s.home.running.any()) return;
  s.deciding.decided = true;
  for (const JobId id : who_yields(s, now)) {
    STARLING_MARK("agent: a job yields to a gang of several partitions");
    Job& job = s.home.jobs.at(id);
    ++job.preemptions;
    ++s.counters.preemptions;
    drain(job, AfterDrain::wait);
  }
  const std::vector<Decision> decisions =
      s.policy->decide(view(s.owner.open_to(std::nullopt, now)), trigger, s.policy_rng);
  const auto prices = s.policy->prices().first(std::min(s.policy->prices().size(), kMostTypeRooms));
  if (!prices.empty() && (!s.flock.digest || !same_prices(s.flock.digest->prices, prices)))
    s.flock.digest_due = true;
  s.home.departed.clear();
  for (const Decision& decision : decisions) {
    ++s.counters.decisions;
    const auto fault = std::visit([&](const auto& d) { return apply(d); }, decision);
    if (!fault) continue;
    ++s.counters.wrong_decisions;
    const Feedback feedback{decision, *fault};
    s.policy->refused(feedback);
    if (const auto job = s.home.jobs.find(feedback.job()); job != s.home.jobs.end())
      job->second.refused = {now, wish_of(decision), *fault};
  }
  // One that has passed is of an earlier call.
  if (s.home.waiting_jobs() > 0 && s.policy->ask_again_at() > now)
    s.deciding.again = s.policy->ask_again_at();
  const Duration round = s.policy->facts().round;
  if (round > Duration{0} && (s.home.waiting_jobs() > 0 || s.home.running.any())) {
    // Each agent at a time of its own: homes that all bid for each other's GPUs at one instant,
    // while each holds its own, would fail at every round for ever.
    const Duration phase = round / static_cast<std::int64_t>(s.flock.peers.size()) * me().value;
    const auto rounds = (now.time_since_epoch() + round - phase) / round;
    s.deciding.next = later(Instant{}, round * rounds + phase);
  } else if (s.home.waiting_jobs() > 0 && s.flock.peers.size() > 1) {
    s.deciding.next = later(now, kDecideAgain);
  }
}

Job* HomeStep::free_to_decide(JobId id) {
  const auto known = s.home.jobs.find(id);
  if (known == s.home.jobs.end() || known->second.stage() != Stage::waiting) return nullptr;
  const JobView* waiting = s.home.waiting.find(known->second.order);
  return waiting == nullptr || waiting->blocked ? nullptr : &known->second;
}

bool HomeStep::good_placement(const JobSpec& spec, const Placement& gpus) const {
  STARLING_MARK("agent: good_placement");
  if (std::adjacent_find(gpus.begin(), gpus.end(), std::greater_equal<>()) != gpus.end()) {
    return false;
  }
  if (spec.gpu_types.empty()) return true;
  return std::all_of(gpus.begin(), gpus.end(), [&](GpuId gpu) {
    return gpu.value < s.topology.gpu_count() &&
           allows(spec, s.topology, s.topology.server_of(gpu));
  });
}

/// Where not all know allocations there are no copies, and then no size of theirs. What else
/// takes part in a gang is not known yet: choose() looks again.
bool HomeStep::good_size(const Job& job, std::size_t gpus, const Placement& here,
                         const Allocation& how) const {
  return gpus <= s.topology.gpu_count() &&
         may_have_size(*job.spec, gpus, carried_out(job, how, here, gpus));
}

DecisionFault HomeStep::why_not_started(JobId id, const Placement& gpus) const {
  return s.owner.kept_for_another(id, gpus, now) ? DecisionFault::reserved : DecisionFault::no_room;
}

std::optional<DecisionFault> HomeStep::apply(const Start& decision) {
  STARLING_MARK("agent: decides Start");
  Job* job = free_to_decide(decision.job);
  if (job == nullptr) return DecisionFault::not_waiting;
  const Placement& gpus = decision.placement;
  if (!good_size(*job, gpus.size(), gpus, decision.allocation)) return DecisionFault::wrong_size;
  if (!good_placement(*job->spec, decision.placement)) return DecisionFault::wrong_gpus;
  if (!good_allocation(*job->spec, decision.placement.size(), decision.allocation))
    return DecisionFault::wrong_allocation;
  if (!s.home.quota.may_start(*job, gpus.size())) return start_within_quota(*job, decision);
  if (start_here(*job, decision.placement, decision.allocation)) return std::nullopt;
  return why_not_started(decision.job, decision.placement);
}

/// What policies remember of a job from when it ran outlives what they are shown while it waits: an
/// elastic one starts with as many of these workers as its queue lets it have.
std::optional<DecisionFault> HomeStep::start_within_quota(Job& job, const Start& decision) {
  const std::size_t most = job.within_quota == nullptr ? 0 : job.within_quota->gpus();
  if (most == 0 || most >= decision.placement.size() || !says_size_alone(decision.allocation) ||
      !s.home.quota.may_start(job, most))
    return DecisionFault::quota;
  STARLING_MARK("agent: a job starts as large as its queue lets it be");
  const Placement gpus(decision.placement.begin(),
                       decision.placement.begin() + static_cast<std::ptrdiff_t>(most));
  if (!good_size(job, most, gpus, {})) return DecisionFault::wrong_size;
  if (start_here(job, gpus, {})) return std::nullopt;
  return why_not_started(decision.job, gpus);
}

std::optional<DecisionFault> HomeStep::cannot_stop(JobId id) const {
  const auto known = s.home.jobs.find(id);
  if (known == s.home.jobs.end() || known->second.stage() != Stage::running)
    return DecisionFault::not_running;
  if (known->second.spec->no_requeue) return DecisionFault::keep_running;
  // No job could take its place.
  if (s.owner.kept_for_another(id, known->second.placement, now)) return DecisionFault::reserved;
  return std::nullopt;
}

std::optional<DecisionFault> HomeStep::apply(const Preempt& decision) {
  STARLING_MARK("agent: decides Preempt");
  if (const auto fault = cannot_stop(decision.job)) return fault;
  Job& job = s.home.jobs.at(decision.job);
  ++job.preemptions;
  ++s.counters.preemptions;
  drain(job, AfterDrain::wait);
  return std::nullopt;
}

/// A running job to be a gang of which only `here` is in this partition. Its workers never straddle
/// servers, let alone partitions.
std::optional<DecisionFault> HomeStep::why_not_spread(const JobSpec& spec,
                                                      const Placement& here) const {
  if (s.flock.peers.size() < 2) return DecisionFault::no_home;
  const bool whole = here.size() % std::max(spec.gpus_per_worker, 1U) == 0;
  const bool ours = std::ranges::all_of(
      here, [&](GpuId gpu) { return s.owner.partition.gpus.contains(gpu.value); });
  return whole && ours ? std::nullopt : std::optional(DecisionFault::wrong_gpus);
}

/// As many GPUs, here the same ones, and run alike: a stop would change nothing. Of a gang over
/// several partitions it is left to the others which of theirs it has.
bool HomeStep::is_as_it_runs(const Job& job, const Placement& here, std::size_t gpus,
                             const Allocation& how) const {
  const bool spreads = gpus > here.size();
  const Allocation next =
      spreads && says_size_alone(how) ? Allocation{} : carried_out(job, how, here, gpus);
  if (gpus != job.placement.size() || next != job.allocation) return false;
  if (!spreads) return here == job.placement;
  const auto ours = std::ranges::count_if(
      job.placement, [&](GpuId gpu) { return s.owner.partition.gpus.contains(gpu.value); });
  return ours == std::ssize(here) && std::ranges::includes(job.placement, here);
}

std::optional<DecisionFault> HomeStep::apply(const Resize& decision) {
  STARLING_MARK("agent: decides Resize");
  if (const auto fault = cannot_stop(decision.job)) return fault;
  Job& job = s.home.jobs.at(decision.job);
  const Placement& gpus = decision.placement;
  const Allocation& how = decision.allocation;
  const std::size_t all = std::max(gpus.size(), gpus_said(*job.spec, how));
  if (!good_size(job, all, gpus, how)) return DecisionFault::wrong_size;
  if (!good_placement(*job.spec, gpus)) return DecisionFault::wrong_gpus;
  if (!good_allocation(*job.spec, all, how)) return DecisionFault::wrong_allocation;
  if (all > gpus.size()) {
    if (const auto fault = why_not_spread(*job.spec, gpus)) return fault;
  }
  if (is_as_it_runs(job, gpus, all, how)) return DecisionFault::wrong_size;
  if (!s.home.quota.may_start(job, all, job.placement.size())) return DecisionFault::quota;
  ++s.counters.resizes;
  drain(job, AfterDrain::restart, gpus, how);
  return std::nullopt;
}

std::optional<DecisionFault> HomeStep::apply(const Forward& decision) {
  STARLING_MARK("agent: decides Forward");
  Job* job = free_to_decide(decision.job);
  if (job == nullptr) return DecisionFault::not_waiting;
  if (!offer_job(*job, decision.to)) return DecisionFault::no_home;
  return std::nullopt;
}

std::optional<DecisionFault> HomeStep::apply(const Spread& decision) {
  STARLING_MARK("agent: decides Spread");
  Job* job = free_to_decide(decision.job);
  if (job == nullptr) return DecisionFault::not_waiting;
  const std::size_t here = decision.local.size();
  const std::size_t all = gang_gpus(*job->spec, decision.allocation);
  if (here > all || (decision.shares && here > 0) ||
      !good_size(*job, all, decision.local, decision.allocation))
    return DecisionFault::wrong_size;
  if (!good_placement(*job->spec, decision.local)) return DecisionFault::wrong_gpus;
  if (!good_allocation(*job->spec, all, decision.allocation))
    return DecisionFault::wrong_allocation;
  if (here < all && s.flock.peers.size() < 2) return DecisionFault::no_home;
  if (!s.home.quota.may_start(*job, all)) return DecisionFault::quota;
  const bool done = here == all ? start_here(*job, decision.local, decision.allocation)
                                : open_round(*job, decision);
  if (done) return std::nullopt;
  return why_not_started(decision.job, decision.local);
}

}  // namespace starling
