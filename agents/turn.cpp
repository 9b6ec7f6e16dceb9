#include "agents/turn.h"

#include <algorithm>

#include "agents/step.h"
#include "policies/packing.h"

namespace starling {
namespace {

constexpr std::uint32_t kRoundsBeforeTurn = 4;
constexpr Duration kPatience = std::chrono::minutes(10);
constexpr Duration kLook = std::chrono::seconds(5);      // for somebody whose turn it is
constexpr Duration kAsk = std::chrono::seconds(1);       // again, what is free by now
constexpr Duration kSameAge = std::chrono::seconds(30);  // ages are told, so they differ by delays
constexpr Duration kOutOfService = std::chrono::minutes(1);
constexpr std::uint32_t kDoublings = 12;

/// GPUs in whole workers that a partition could give when all are free.
std::uint32_t most_of(const Topology& topology, const Partition& partition, const JobSpec& spec) {
  std::uint32_t most = 0;
  const std::uint32_t worker = spec.workers > 1 ? std::max(spec.gpus_per_worker, 1U) : 1;
  for (std::uint32_t i = partition.servers.first; i < partition.servers.last; ++i) {
    const Server& server = topology.server(ServerId{i});
    if (allows(spec, topology, ServerId{i})) most += server.gpus.size() / worker * worker;
  }
  return most;
}

Duration period_of(const Timers& timers, const Job& job) {
  return timers.hold * (1LL << std::min(job.turns, kDoublings));
}

}  // namespace

/// Once in a while: the job here that has waited longest of those that may.
void Step::look_for_turn() {
  if (s.turn_look > now || s.peers.size() < 2 || s.waiting_jobs == 0) return;
  s.turn_look = later(now, kLook);
  const Job* oldest = nullptr;
  for (const JobView& view : s.waiting.views()) {
    const bool old = now - view.submitted >= kPatience;
    const bool homeless = view.spec->gpus() > s.partition.gpus.size();
    if (!(old && homeless) && view.failed_rounds < kRoundsBeforeTurn) continue;
    const Job& job = s.jobs.at(view.spec->id);
    if (job.stage != Stage::waiting || job.turn_after > now) continue;
    if (oldest == nullptr || job.submitted < oldest->submitted) oldest = &job;
  }
  if (oldest != nullptr) open_turn(s.jobs.at(oldest->spec->id));
}

/// Owners that speak the first protocol take a claim for a bid, so they are left out: homes that
/// each claimed their own partition alone would keep one another from everything for ever.
void Step::open_turn(Job& job) {
  if (s.config.protocol < 2) return;
  std::vector<const PeerState*> order{&s.peers[me().value]};
  for (const PeerState& peer : s.peers) {
    if (peer.peer.agent == me() || peer.watch.protocol < 2 || !reachable(peer.watch)) continue;
    order.push_back(&peer);
  }
  std::vector<PartitionId> claimed;
  std::uint64_t room = 0;
  for (const PeerState* peer : order) {
    if (room >= job.spec->gpus()) break;
    const std::uint32_t most = most_of(s.topology, peer->peer.partition, *job.spec);
    if (most == 0) continue;
    room += most;
    claimed.push_back(peer->peer.partition.id);
  }
  if (room < job.spec->gpus()) return;
  std::sort(claimed.begin(), claimed.end());
  job.attempt = Attempt{};
  job.attempt.id = open_attempt(job);
  job.attempt.in_turn = true;
  job.attempt.claimed = std::move(claimed);
  job.attempt.deadline = later(now, period_of(s.config.timers, job));
  job.stage = Stage::bidding;
  job.backoff = Duration{0};
  if (JobView* view = s.waiting_view(job)) view->blocked = true;
  claim(job);
}

/// Claims last as long as the turn, and are told again until it is over.
void Step::claim(Job& job) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(job.attempt.deadline - now);
  for (const PartitionId partition : job.attempt.claimed) {
    BidRequest request{job.attempt.id, job.spec->gpus(), job.spec->gpus_per_worker,
                       job.spec->gpu_types};
    request.claim_ms = static_cast<std::uint32_t>(std::max<std::int64_t>(left.count(), 1));
    request.waited = now - job.submitted;
    tell(s.owner_of(partition)->peer.agent, std::move(request));
  }
  s.set_timer(job.spec->id, job, std::min(later(now, kAsk), job.attempt.deadline));
}

/// What one partition offers by now, in the place of what it offered before.
void Step::turn_offer(Job& job, PartitionId partition, const Placement& gpus) {
  Attempt& attempt = job.attempt;
  std::erase_if(attempt.offers, [&](const Share& offer) { return offer.partition == partition; });
  if (!gpus.empty()) attempt.offers.push_back({partition, gpus});
  std::size_t have = 0;
  const std::size_t worker = std::max(job.spec->gpus_per_worker, 1U);
  for (const Share& offer : attempt.offers) have += offer.gpus.size() / worker * worker;
  if (have >= job.spec->gpus()) choose(job);
}

/// Its turn is over before it had enough. `why_not`: somebody would not let it have a turn at all.
void Step::end_turn(Job& job, std::optional<Refusal> why_not) {
  Duration pause = period_of(s.config.timers, job);
  if (!why_not) {
    ++job.turns;
  } else if (*why_not == Refusal::not_ready) {
    pause = std::max(pause, kOutOfService);
  } else {
    pause = kLook;
  }
  job.turn_after = later(now, pause);
  abort_round(job, why_not ? std::string("its turn was refused: ") + name_of(*why_not)
                           : "its turn was over before enough GPUs were free");
}

/// Of all partitions but those that take part.
void Step::free_claims(const Job& job, bool all) {
  const auto& parts = job.attempt.parts;
  for (const PartitionId partition : job.attempt.claimed) {
    const bool part = std::any_of(parts.begin(), parts.end(), [&](const Participant& p) {
      return p.share.partition == partition;
    });
    if (part && !all) continue;
    tell(s.owner_of(partition)->peer.agent, Release{job.attempt.id, fence_of(partition)});
  }
}

/// As owner: nothing new starts here but this gang. Null: it is so now.
std::optional<Refusal> Step::admit_claim(AgentId home, const BidRequest& request) {
  const std::uint32_t unused = s.ledger.quarantined_count() + s.ledger.drained_count();
  if (unused > 0 && request.gpus > s.ledger.gpus().gpus().size() - unused)
    return Refusal::not_ready;
  if (s.ledger.released(request.attempt) != nullptr) return Refusal::expired;
  Claim claim{request.attempt, home,
              now - std::min(request.waited, Duration(std::chrono::hours(24 * 365))),
              later(now, std::chrono::milliseconds(request.claim_ms))};
  if (s.claim && s.claim->until > now && s.claim->attempt.job != request.attempt.job) {
    const Duration older = s.claim->since - claim.since;
    const bool first =
        older > kSameAge || (older >= -kSameAge && request.attempt.job < s.claim->attempt.job);
    if (!first) return Refusal::conflict;
  }
  s.claim = claim;
  return std::nullopt;
}

bool Step::claimed_for_another(JobId job) const {
  return s.claim && s.claim->until > now && s.claim->attempt.job != job;
}

void Step::end_claim(AttemptId attempt) {
  if (!s.claim || s.claim->attempt != attempt) return;
  s.claim.reset();
  change(TriggerKind::departure);
}

}  // namespace starling
