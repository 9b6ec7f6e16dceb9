// SPDX-License-Identifier: Apache-2.0
#include "agents/home/turn.h"

#include <algorithm>
#include <tuple>

#include "agents/step/home_step.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr std::uint32_t kRoundsBeforeTurn = 4;
constexpr Duration kTurnEvery = std::chrono::seconds(5);  // for a job whose turn it is
constexpr Duration kAsk = std::chrono::seconds(1);        // again, what is free by now
constexpr Duration kSilentClaim = 10 * kAsk;              // the least that a claim lasts
constexpr Duration kSameAge = std::chrono::seconds(30);   // ages are told, so they differ by delays
constexpr Duration kOutOfService = std::chrono::minutes(1);
constexpr std::uint32_t kDoublings = 12;
constexpr Duration kStops = std::chrono::minutes(2);  // those who yield are gone by then

std::uint32_t worker_of(const JobSpec& spec) {
  return spec.workers > 1 ? std::max(spec.gpus_per_worker, 1U) : 1;
}

std::uint32_t in_service(const Occupancy& gpus, const Server& server) {
  std::uint32_t count = 0;
  for (std::uint32_t g = server.gpus.first; g < server.gpus.last; ++g)
    count += gpus.is_blocked(GpuId{g}) ? 0 : 1;
  return count;
}

/// GPUs in whole workers, up to `enough`, that these servers could give when all are free of which
/// `gpus_of` says that they are in service.
template <class GpusOf>
std::uint64_t most_of(const Topology& topology, IndexRange servers, const JobSpec& spec,
                      std::uint64_t enough, GpusOf gpus_of) {
  std::uint64_t most = 0;
  const std::uint32_t worker = worker_of(spec);
  const Demand each = demand_of(spec);
  for (std::uint32_t i = servers.first; i < servers.last && most < enough; ++i) {
    const Server& server = topology.server(ServerId{i});
    if (!allows(spec, topology, ServerId{i})) continue;
    const auto gpus = static_cast<std::uint32_t>(gpus_of(server));
    most += std::min(gpus, Occupancy::room_of(server, each)) / worker * worker;
  }
  return std::min(most, enough);
}

/// Of two claims: the more urgent one first, then who has waited longer.
bool goes_before(const Claim& a, const Claim& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  const Duration older = b.since - a.since;
  return older > kSameAge || (older >= -kSameAge && a.attempt.job < b.attempt.job);
}

Duration period_of(const AgentState& s, const Job& job) {
  const Duration period = s.config.timers.hold * (1LL << std::min(job.turns, kDoublings));
  const bool yields = s.policy->facts().preemptive && job.round()->claimed.size() > 1 &&
                      s.now - job.submitted >= kPatience;
  return yields ? std::max<Duration>(period, kStops) : period;
}

/// Homes stop jobs for it: it needs several partitions. Of another home's gang this is one of them.
bool is_yielded_to(const AgentState& s, const Claim& claim) {
  if (!s.policy->facts().preemptive || later(claim.since, kPatience) > s.now) return false;
  if (claim.home != s.config.me) return true;
  const auto job = s.home.jobs.find(claim.attempt.job);
  return job != s.home.jobs.end() && job->second.round() != nullptr &&
         job->second.round()->claimed.size() > 1;
}

/// Null: it does not stop for a job of another partition.
const Job* may_yield(const AgentState& s, AttemptId attempt) {
  const auto known = s.home.jobs.find(attempt.job);
  if (known == s.home.jobs.end()) return nullptr;
  const Job& job = known->second;
  const bool here = job.stage() == Stage::running && job.has(attempt) &&
                    job.run()->attempt.parts.size() == 1 && !job.spec->no_requeue;
  return here ? &job : nullptr;
}

/// The policy may have it run as a smaller one.
bool may_shrink_to(const AgentState& s, const JobSpec& spec, std::uint32_t gpus) {
  return s.policy->facts().elastic && spec.elastic() &&
         spec.min_workers * std::max(spec.gpus_per_worker, 1U) <= gpus;
}

/// GPUs of this partition that no claim frees before their jobs end.
std::uint32_t staying_here(const AgentState& s) {
  std::size_t count = 0;
  for (const auto& [attempt, hold] : s.owner.ledger.holds())
    count += may_yield(s, attempt) == nullptr ? hold.gpus.size() : 0;
  return static_cast<std::uint32_t>(count);
}

}  // namespace

std::vector<JobId> who_yields(const AgentState& s, Instant now) {
  std::vector<JobId> out;
  if (!s.owner.claim || s.owner.claim->until <= now || !is_yielded_to(s, *s.owner.claim))
    return out;
  const Claim& claim = *s.owner.claim;
  for (const auto& [attempt, hold] : s.owner.ledger.holds()) {
    const Job* job = may_yield(s, attempt);
    if (job != nullptr && job->spec->priority <= claim.priority &&
        claim.kept.any_of(hold.gpus, s.topology))
      out.push_back(attempt.job);
  }
  return out;
}

bool left_beside_free_gpus(const AgentState& s, const JobSpec& spec) {
  const Ledger& ledger = s.owner.ledger;
  return ledger.quarantined_count() + ledger.drained_count() > 0 &&
         ledger.gpus().free_count() >= spec.gpus();
}

/// What could be had of this partition for the job.
std::uint32_t OwnerStep::most_here(const JobSpec& spec) const {
  return static_cast<std::uint32_t>(
      most_of(s.topology, s.owner.partition.servers, spec, spec.gpus(),
              [&](const Server& server) { return in_service(s.owner.ledger.gpus(), server); }));
}

/// The same elsewhere, as far as can be told: what is out of service there is known by number.
std::uint32_t HomeStep::most_there(const PeerState& peer, const JobSpec& spec) const {
  if (peer.unready > now) return 0;
  std::uint64_t in_service = peer.peer.partition.gpus.size();
  if (peer.digest) in_service -= std::min<std::uint64_t>(in_service, peer.digest->out_of_service);
  const std::uint64_t enough =
      std::min<std::uint64_t>(spec.gpus(), in_service / worker_of(spec) * worker_of(spec));
  return static_cast<std::uint32_t>(
      most_of(s.topology, peer.peer.partition.servers, spec, enough,
              [](const Server& server) { return server.gpus.size(); }));
}

/// Once in a while: the most urgent job here that may, and of those the one that has waited
/// longest.
void HomeStep::look_for_turn() {
  if (s.home.next_turn > now || s.home.waiting_jobs() == 0) return;
  s.home.next_turn = later(now, kTurnEvery);
  const Job* oldest = nullptr;
  for (const JobView& view : s.home.waiting.views()) {
    const JobSpec& spec = *view.spec;
    const Duration patience = patience_of(spec.gpus(), s.owner.server_gpus);
    const bool passed = s.home.passing.has_passed(spec.priority, view.order);
    const bool rounds = view.failed_rounds >= kRoundsBeforeTurn;
    if (now - view.submitted < kGangPatience && !rounds) continue;
    if (!s.lossy()) {
      if (now - view.submitted < kPatience) continue;
      const std::uint32_t most = most_here(spec);
      if (most >= spec.gpus() || may_shrink_to(s, spec, most)) continue;
    }
    const Job& job = s.home.jobs.at(spec.id);
    if (job.stage() != Stage::waiting || job.turn_after > now) continue;
    if (oldest != nullptr && std::tie(spec.priority, oldest->submitted) <=
                                 std::tie(oldest->spec->priority, job.submitted))
      continue;
    const bool starves = s.lossy() && (passed || left_beside_free_gpus(s, spec)) &&
                         later(std::max(job.submitted, job.stopped), patience) <= now;
    const bool oversized = now - view.submitted >= kGangPatience && most_here(spec) < spec.gpus();
    if (rounds || starves || oversized) oldest = &job;
  }
  if (oldest != nullptr) open_turn(s.home.jobs.at(oldest->spec->id));
}

/// Its own partition first, then those that are whole. Of those that are not is told how many GPUs
/// are out of service, not which: if such are claimed, after a turn in vain, so are all others.
/// Owners that speak the first protocol take a claim for a bid, so they are left out: homes that
/// each claimed their own partition alone would keep one another from everything for ever.
void HomeStep::open_turn(Job& job) {
  if (s.config.protocol < 2) return;
  std::vector<const PeerState*> order;
  for (const PeerState& peer : s.flock.peers) {
    if (peer.peer.agent == me() || peer.watch.protocol < 2 || !reachable(peer.watch)) continue;
    order.push_back(&peer);
  }
  std::stable_partition(order.begin(), order.end(), [](const PeerState* peer) {
    return !peer->digest || peer->digest->out_of_service == 0;
  });
  // Where owners yield, what stays are gangs as this one, which no digest tells of: others are
  // tried.
  const bool yield = s.policy->facts().preemptive;
  if (yield && !order.empty())
    std::rotate(order.begin(), order.begin() + job.turns % std::ssize(order), order.end());
  order.insert(order.begin(), &s.flock.peers[me().value]);
  std::vector<PartitionId> claimed;
  std::uint64_t room = 0;
  bool all_whole = true;
  for (const PeerState* peer : order) {
    if (room >= job.spec->gpus() && (all_whole || job.turns == 0)) break;
    const bool here = peer->peer.agent == me();
    std::uint32_t most = here ? most_here(*job.spec) : most_there(*peer, *job.spec);
    if (here && yield && most < job.spec->gpus()) most -= std::min(most, staying_here(s));
    if (most == 0) continue;
    room += most;
    all_whole = all_whole && (here || !peer->digest || peer->digest->out_of_service == 0);
    claimed.push_back(peer->peer.partition.id);
  }
  if (room < job.spec->gpus()) return;
  std::sort(claimed.begin(), claimed.end());
  Job::Round& round = job.doing.emplace<Job::Round>();
  round.attempt.id = open_attempt(job);
  round.gpus = job.spec->gpus();
  round.sequential = true;
  round.claimed = std::move(claimed);
  round.deadline = later(now, period_of(s, job));
  job.backoff = Duration{0};
  if (JobView* view = s.home.waiting.find(job.order)) view->blocked = true;
  claim(job);
}

/// Told again until the turn is over, which can take hours, so a claim need not last as long: its
/// home may be gone, or its Release lost. While the gang reserves, which takes the hold time, it is
/// not told again. No owner is asked for more than can be had there: it refuses that at once.
void HomeStep::claim(Job& job) {
  const Job::Round& round = *job.round();
  const Duration lasts = std::max<Duration>(kSilentClaim, 2 * s.config.timers.hold);
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::min<Duration>(round.deadline - now, lasts));
  // Two owners that order the same two claims differently would end both for ever.
  const bool all_know =
      std::all_of(round.claimed.begin(), round.claimed.end(), [&](PartitionId partition) {
        const PeerState& owner = *s.flock.owner_of(partition);
        return owner.peer.agent == me() || owner.watch.protocol >= kClaimPriorityProtocol;
      });
  for (const PartitionId partition : round.claimed) {
    const PeerState& owner = *s.flock.owner_of(partition);
    const bool here = owner.peer.agent == me();
    const std::uint32_t most = here ? most_here(*job.spec) : most_there(owner, *job.spec);
    BidRequest request{round.attempt.id, std::max(most, 1U), job.spec->gpus_per_worker,
                       job.spec->gpu_types};
    request.claim_ms = static_cast<std::uint32_t>(std::max<std::int64_t>(left.count(), 1));
    request.waited = now - job.submitted;
    request.each = demand_of(*job.spec);
    if (all_know) request.priority = job.spec->priority;
    tell(owner.peer.agent, std::move(request));
  }
  s.home.set_timer(job.spec->id, job, std::min(later(now, kAsk), round.deadline));
}

/// What one partition offers by now, in the place of what it offered before.
void HomeStep::turn_offer(Job& job, PartitionId partition, const Placement& gpus) {
  std::vector<Share>& offers = job.round()->bids->offers;
  std::erase_if(offers, [&](const Share& offer) { return offer.partition == partition; });
  if (!gpus.empty()) offers.push_back({partition, gpus});
  std::size_t have = 0;
  const std::size_t worker = std::max(job.spec->gpus_per_worker, 1U);
  for (const Share& offer : offers) have += offer.gpus.size() / worker * worker;
  if (have >= job.round()->gpus) choose(job);
}

/// Its turn is over before it had enough. `why_not`: an owner would not let it have a turn at all.
void HomeStep::end_turn(Job& job, std::optional<Refusal> why_not) {
  Duration pause = period_of(s, job);
  if (!why_not) {
    ++job.turns;
  } else if (*why_not == Refusal::not_ready) {
    pause = std::max(pause, kOutOfService);
  } else {
    pause = kTurnEvery;
  }
  job.turn_after = later(now, pause);
  abort_round(job, why_not ? std::string("its turn was refused: ") + name_of(*why_not)
                           : "its turn was over before enough GPUs were free");
}

/// Of all partitions but those that take part.
void HomeStep::free_claims(const Job& job, bool all) {
  const Job::Round& round = *job.round();
  const auto& parts = round.attempt.parts;
  for (const PartitionId partition : round.claimed) {
    const bool part = std::any_of(parts.begin(), parts.end(), [&](const Participant& p) {
      return p.share.partition == partition;
    });
    if (part && !all) continue;
    tell(s.flock.owner_of(partition)->peer.agent, Release{round.attempt.id, fence_of(partition)});
  }
}

/// A job that is more urgent waits here and could start here. One that has waited for its patience
/// competes by a turn of its own; otherwise one that never starts would keep all others from
/// theirs.
bool OwnerStep::more_urgent_waits(const BidRequest& request) {
  return std::ranges::any_of(s.home.waiting.views(), [&](const JobView& view) {
    const JobSpec& spec = *view.spec;
    return spec.priority > request.priority && spec.id != request.attempt.job && !view.blocked &&
           later(view.submitted, patience_of(spec.gpus(), s.owner.server_gpus)) > now &&
           most_here(spec) >= spec.gpus();
  });
}

/// As owner: what this job asks for is kept for it. Null: it is so now.
std::optional<Refusal> OwnerStep::admit_claim(AgentId home, const BidRequest& request) {
  const std::uint32_t unused = s.owner.ledger.quarantined_count() + s.owner.ledger.drained_count();
  if (unused > 0 && request.gpus > s.owner.ledger.gpus().gpus().size() - unused)
    return Refusal::not_ready;
  if (s.owner.ledger.released(request.attempt) != nullptr) return Refusal::expired;
  if (more_urgent_waits(request)) return Refusal::conflict;
  Claim claim{request.attempt,
              home,
              request.priority,
              now - std::min(request.waited, Duration(std::chrono::hours(24 * 365))),
              later(now, std::chrono::milliseconds(request.claim_ms)),
              {}};
  if (s.owner.claim && s.owner.claim->until > now &&
      s.owner.claim->attempt.job != request.attempt.job) {
    if (!goes_before(claim, *s.owner.claim)) return Refusal::conflict;
  }
  const bool repeat = s.owner.claim && s.owner.claim->attempt == claim.attempt;
  if (repeat) claim.kept = std::move(s.owner.claim->kept);
  keep_servers(claim, request);
  s.owner.claim = std::move(claim);
  if (!repeat) s.flock.digest_due = true;
  if (!who_yields(s, now).empty()) change(TriggerKind::arrival);
  return std::nullopt;
}

/// Chosen once for a turn, so that what is kept becomes free; again where some of it has gone out
/// of service. A job that runs is taken to go on for as long as it has run here, if it does not
/// yield.
void OwnerStep::keep_servers(Claim& claim, const BidRequest& request) const {
  const Occupancy& gpus = s.owner.ledger.gpus();
  JobSpec shape;
  shape.gpu_types = request.gpu_types;
  const auto room_on = [&](ServerId id) -> std::uint32_t {
    if (!allows(shape, s.topology, id)) return 0;
    const Server& server = s.topology.server(id);
    const bool whole = request.gpus_per_worker > 0 && request.gpus_per_worker <= server.gpus.size();
    const std::uint32_t worker = whole ? request.gpus_per_worker : 1;
    return std::min(in_service(gpus, server), Occupancy::room_of(server, request.each)) / worker *
           worker;
  };
  std::uint64_t kept = 0;
  for (const ServerId server : claim.kept.servers()) kept += room_on(server);
  if (kept >= request.gpus) return;
  const IndexRange servers = s.owner.partition.servers;
  std::vector<Instant> free_at(servers.size(), Instant::min());
  for (const auto& [attempt, hold] : s.owner.ledger.holds()) {
    const auto share = s.owner.shares.find(attempt);
    const bool stops = is_yielded_to(s, claim) && may_yield(s, attempt) != nullptr;
    const bool runs = !stops && share != s.owner.shares.end() && share->second.launched <= now;
    const Instant end = runs ? later(now, now - share->second.launched) : now;
    for (const GpuId gpu : hold.gpus) {
      Instant& at = free_at[s.topology.server_of(gpu).value - servers.first];
      at = std::max(at, end);
    }
  }
  std::vector<KeptServers::Candidate> candidates;
  for (std::uint32_t i = servers.first; i < servers.last; ++i)
    candidates.push_back({ServerId{i}, room_on(ServerId{i}), free_at[i - servers.first]});
  claim.kept.choose(s.topology, std::move(candidates), request.gpus);
}

void OwnerStep::end_claim(AttemptId attempt) {
  if (!s.owner.claim || s.owner.claim->attempt != attempt) return;
  s.owner.claim.reset();
  change(TriggerKind::departure);
}

}  // namespace starling
