// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/step/home_step.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/marks.h"
#include "base/planted.h"
#include "base/to_ms.h"
#include "workload/job_size.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr std::uint32_t kRoundsBeforeSequential = 4;
constexpr Duration kUnready = std::chrono::minutes(10);

std::string partition_text(PartitionId partition) {
  return "partition " + std::to_string(partition.value);
}

}  // namespace

/// Holds `local` and asks all other partitions for the rest. A bid promises nothing. Of a gang that
/// would share GPUs this partition is asked as the others are.
bool HomeStep::open_round(Job& job, const Spread& spread) {
  STARLING_MARK("agent: open_round");
  const Placement& local = spread.local;
  if (s.owner.kept_for_another(job.spec->id, local, now)) return false;
  const AttemptId id = open_attempt(job);
  const Instant until = later(now, s.config.timers.hold);
  if (!local.empty()) {
    if (s.owner.ledger.reserve(id, me(), local, until, demand_of(*job.spec))) return false;
    s.owner.set_lapse(id, until);
  }
  const JobId job_id = job.spec->id;
  Job::Round& round = job.doing.emplace<Job::Round>();
  round.attempt.id = id;
  round.attempt.allocation = spread.allocation;
  round.gpus = static_cast<std::uint32_t>(gang_gpus(*job.spec, spread.allocation));
  if (!local.empty()) {
    round.attempt.parts.emplace_back();
    round.attempt.parts.back().share = {s.owner.partition.id, local};
    round.attempt.parts.back().agent = me();
  }
  round.sequential = job.failed_rounds >= kRoundsBeforeSequential;
  job.backoff = Duration{0};
  if (JobView* view = s.home.waiting.find(job.order)) view->blocked = true;
  const auto need = round.gpus - static_cast<std::uint32_t>(local.size());
  std::vector<std::string> types = job.spec->gpu_types;
  if (spread.type && spread.type->value < s.topology.gpu_types().size())
    types = {s.topology.gpu_types()[spread.type->value].name};
  round.bids->shares = spread.shares;
  for (const PeerState& peer : s.flock.peers) {
    const bool here = peer.peer.agent == me();
    if (here ? !spread.shares : !reachable(peer.watch)) continue;
    round.bids->asked.push_back(peer.peer.agent);
    BidRequest request{id, need, job.spec->gpus_per_worker, types};
    request.each = demand_of(*job.spec);
    if (spread.shares) {
      request.gang = round.gpus;
      request.model = job.spec->model;
    }
    tell(peer.peer.agent, std::move(request));
  }
  // Longer after every round, for networks that are slower than the timer expects.
  const Duration bid = s.config.timers.bid * (1LL << std::min(job.failed_rounds, 10U));
  s.home.set_timer(job_id, job, later(now, std::min(bid, s.config.timers.hold / 2)));
  s.flock.digest_due = true;
  if (round.bids->asked.empty()) choose(job);
  return true;
}

namespace {

/// The job of a bidding round that `from` was asked in; it has answered now.
Job* bidder_answered(AgentState& s, AgentId from, AttemptId attempt) {
  const auto known = s.home.jobs.find(attempt.job);
  if (known == s.home.jobs.end()) return nullptr;
  Job& job = known->second;
  if (job.stage() != Stage::bidding || !job.has(attempt)) return nullptr;
  return std::erase(job.round()->bids->asked, from) > 0 ? &job : nullptr;
}

/// The job whose turn it is, if that is this attempt and it claims that partition.
Job* whose_turn(AgentState& s, AttemptId attempt, PartitionId partition) {
  const auto known = s.home.jobs.find(attempt.job);
  if (known == s.home.jobs.end()) return nullptr;
  Job& job = known->second;
  if (job.stage() != Stage::bidding || !job.has(attempt)) return nullptr;
  const auto& claimed = job.round()->claimed;
  return std::find(claimed.begin(), claimed.end(), partition) == claimed.end() ? nullptr : &job;
}

}  // namespace

void HomeStep::on(NodeId from, const Offer& offer) {
  STARLING_MARK("agent: Offer");
  if (!is_agent(from)) return refuse();
  const PeerState* owner = s.flock.owner_of(offer.share.partition);
  if (owner == nullptr || agent_node(owner->peer.agent) != from) return refuse();
  Job* claimant = whose_turn(s, offer.attempt, offer.share.partition);
  Job* job = claimant ? claimant : bidder_answered(s, agent_of(from), offer.attempt);
  if (job == nullptr) return;
  const Placement& gpus = offer.share.gpus;
  const auto bad = [&](GpuId gpu) {
    return !owner->peer.partition.gpus.contains(gpu.value) ||
           !allows(*job->spec, s.topology, s.topology.server_of(gpu));
  };
  const bool ascending =
      std::adjacent_find(gpus.begin(), gpus.end(), std::greater_equal<>()) == gpus.end();
  const bool shares = !claimant && job->round()->bids->shares && !offer.shared.empty();
  if ((gpus.empty() && !shares) || !ascending || std::any_of(gpus.begin(), gpus.end(), bad) ||
      std::any_of(offer.shared.begin(), offer.shared.end(), [&](const SharedRoom& room) {
        return std::any_of(room.gpus.begin(), room.gpus.end(), bad);
      })) {
    refuse();
  } else if (claimant) {
    return turn_offer(*job, offer.share.partition, gpus);
  } else {
    auto& bids = *job->round()->bids;
    if (!gpus.empty()) bids.offers.push_back(offer.share);
    if (!shares) return bids.asked.empty() ? choose(*job) : void();
    for (const SharedRoom& room : offer.shared)
      bids.shared.emplace_back(offer.share.partition, room);
  }
  if (!claimant && job->round()->bids->asked.empty()) choose(*job);
}

void HomeStep::on(NodeId from, const NoOffer& none) {
  STARLING_MARK("agent: NoOffer");
  if (!is_agent(from)) return refuse();
  const PeerState* owner = s.flock.owner_of(none.partition);
  Job* claimant = whose_turn(s, none.attempt, none.partition);
  if (claimant != nullptr && owner != nullptr && agent_node(owner->peer.agent) == from) {
    return turn_offer(*claimant, none.partition, {});
  }
  Job* job = bidder_answered(s, agent_of(from), none.attempt);
  if (job != nullptr && job->round()->bids->asked.empty()) choose(*job);
}

/// Large offers first, so that few partitions take part.
void HomeStep::choose(Job& job) {
  STARLING_MARK("agent: choose");
  Job::Round& round = *job.round();
  Attempt& attempt = round.attempt;
  std::vector<Share>& offers = round.bids->offers;
  std::sort(offers.begin(), offers.end(), [](const Share& a, const Share& b) {
    return a.gpus.size() != b.gpus.size() ? a.gpus.size() > b.gpus.size()
                                          : a.partition < b.partition;
  });
  std::size_t need = round.gpus;
  for (const Participant& part : attempt.parts) need -= std::min(need, part.share.gpus.size());
  const std::size_t worker = std::max(job.spec->gpus_per_worker, 1U);
  for (Share& offer : offers) {
    // Offers are made of whole workers, server by server, so every multiple in front is, too.
    const std::size_t take = std::min(need, offer.gpus.size()) / worker * worker;
    if (take == 0) continue;
    if (attempt.parts.size() >= s.config.limits.participants_per_job) break;
    need -= take;
    offer.gpus.resize(take);
    attempt.parts.emplace_back();
    attempt.parts.back().agent = s.flock.owner_of(offer.partition)->peer.agent;
    attempt.parts.back().share = std::move(offer);
  }
  if (need > 0 && round.bids->shares) {
    need = add_shared(job, need);
    if (need > 0) return give_up_sharing(job);
  }
  if (need > 0) {
    return abort_round(job, "round " + std::to_string(job.failed_rounds + 1) +
                                ": the offers of all partitions lack " + counted(need, "GPU"));
  }
  std::sort(attempt.parts.begin(), attempt.parts.end(),
            [](const Participant& a, const Participant& b) {
              return a.share.partition < b.share.partition;
            });
  agree_on_allocation(job, attempt);
  if (!may_have_size(*job.spec, round.gpus, attempt.allocation)) {
    STARLING_MARK("agent: a gang's size goes with what not everybody knows");
    job.as_asked = true;
    return abort_round(job, "round " + std::to_string(job.failed_rounds + 1) +
                                ": an agent is older and does not know copies that are averaged");
  }
  free_claims(job, false);
  round.bids.reset();
  round.deadline = later(now, s.config.timers.hold);
  send_reserves(job);
}

/// In turn: the first that has not reserved; else all of those.
void HomeStep::send_reserves(Job& job) {
  STARLING_MARK("agent: send_reserves");
  const std::uint32_t hold_ms = to_ms(s.config.timers.hold);
  const Job::Round& round = *job.round();
  for (const Participant& part : round.attempt.parts) {
    if (part.reserved) continue;
    const Share& share = part.share;
    tell(part.agent, Reserve{round.attempt.id, fence_of(share.partition), share.gpus, hold_ms,
                             demand_of(*job.spec), part.beside});
    if (round.sequential) break;
  }
  s.home.set_timer(job.spec->id, job, std::min(retry_at(job.backoff), round.deadline));
}

void HomeStep::on(NodeId from, const Reserved& reserved) {
  STARLING_MARK("agent: Reserved");
  const auto [job, part] = participant(from, reserved.attempt, reserved.partition);
  if (job == nullptr || job->stage() != Stage::reserving || part->reserved) return;
  part->reserved = true;
  Job::Round& round = *job->round();
  const auto& parts = round.attempt.parts;
  if (!std::all_of(parts.begin(), parts.end(), [](const auto& p) { return p.reserved; })) {
    if (round.sequential) send_reserves(*job);
    return;
  }
  round.committing = true;
  job->backoff = Duration{0};
  send_commits(*job);
}

void HomeStep::on(NodeId from, const ReserveRefused& refused) {
  STARLING_MARK("agent: ReserveRefused");
  const PeerState* owner = s.flock.owner_of(refused.partition);
  Job* claimant = whose_turn(s, refused.attempt, refused.partition);
  if (claimant != nullptr && owner != nullptr && agent_node(owner->peer.agent) == from) {
    if (refused.why == Refusal::not_ready && agent_of(from) != me())
      s.flock.peers[agent_of(from).value].unready = later(now, kUnready);
    return end_turn(*claimant, refused.why);
  }
  const auto [job, part] = participant(from, refused.attempt, refused.partition);
  if (job == nullptr || job->stage() != Stage::reserving || part->reserved) return;
  const std::string why = partition_text(refused.partition) + " refused round " +
                          std::to_string(job->failed_rounds + 1) + ": " + name_of(refused.why);
  const bool may_pass = refused.why == Refusal::conflict || refused.why == Refusal::not_ready ||
                        refused.why == Refusal::busy;
  if (job->round()->sequential && may_pass) {
    job->trouble = why;  // keeps what it has; the timer asks again until the hold time is over
    return;
  }
  abort_round(*job, why);
}

void HomeStep::send_commits(Job& job) {
  STARLING_MARK("agent: send_commits");
  const Job::Round& round = *job.round();
  const std::vector<Share> gang = gang_of(round.attempt);
  for (const Participant& part : round.attempt.parts) {
    if (part.committed) continue;
    tell(part.agent, Commit{round.attempt.id, fence_of(part.share.partition), *job.spec, gang,
                            job.served, round.attempt.allocation});
  }
  s.home.set_timer(job.spec->id, job, std::min(retry_at(job.backoff), round.deadline));
}

void HomeStep::on(NodeId from, const Committed& committed) {
  STARLING_MARK("agent: Committed");
  const auto [job, part] = participant(from, committed.attempt, committed.partition);
  if (job == nullptr || job->stage() != Stage::committing || part->committed) return;
  part->committed = true;
  const auto& parts = job->round()->attempt.parts;
  if (planted(Bug::start_on_partial_commit) ||
      std::all_of(parts.begin(), parts.end(), [](const auto& p) { return p.committed; })) {
    start_gang(*job);
  }
}

void HomeStep::on(NodeId from, const CommitRefused& refused) {
  STARLING_MARK("agent: CommitRefused");
  const auto [job, part] = participant(from, refused.attempt, refused.partition);
  if (job == nullptr || job->stage() != Stage::committing || part->committed) return;
  // Its executors would leave out how it is to run: the next round is for a job as it asks.
  job->as_asked = job->as_asked || refused.why == Refusal::never_fits;
  abort_round(*job, partition_text(refused.partition) + " could not commit round " +
                        std::to_string(job->failed_rounds + 1) + ": " + name_of(refused.why));
}

/// All have committed: the one durable decision of the home, before any process. What its queue may
/// have can have fallen since the round began.
void HomeStep::start_gang(Job& job) {
  STARLING_MARK("agent: start_gang");
  if (const std::size_t gpus = all_gpus(job.round()->attempt).size();
      !s.home.quota.may_start(job, gpus)) {
    STARLING_MARK("agent: a gang may not start for its queue's sake");
    return give_up_round(job, beyond_quota(job, gpus));
  }
  Job::Run run;
  run.attempt = std::move(job.round()->attempt);
  run.started = now;
  run.deadline = later(now, s.config.timers.start);
  if (!planted(Bug::starting_not_durable)) {
    persist(AttemptStarting{run.attempt.id, gang_of(run.attempt), run.attempt.allocation});
  }
  s.home.leave_waiting(job);
  job.placement = all_gpus(run.attempt);
  job.allocation = run.attempt.allocation;
  job.last = run.attempt.id;
  ++job.attempts;
  if (run.attempt.parts.size() > 1) ++s.counters.cross_partition_gangs;
  job.doing = std::move(run);
  s.home.enter_running(job);
  s.flock.digest_due = true;
  job.backoff = Duration{0};
  send_starts(job);
}

/// What it holds or claims is let go.
void HomeStep::leave_round(Job& job) {
  job.round()->claimed.empty() ? send_releases(job) : free_claims(job, true);
}

/// No failed round: no owner has refused anything.
void HomeStep::give_up_round(Job& job, std::string why) {
  send_releases(job);
  job.trouble = std::move(why);
  job.backoff = s.config.timers.retry_min;
  wait_again(job, true);
}

/// Before Start: no process runs, so the job lets go of everything and waits a little.
void HomeStep::abort_round(Job& job, const std::string& why) {
  STARLING_MARK("agent: abort_round");
  STARLING_CHECK(job.round() != nullptr);
  // Waiting for a turn is no failure, however long others have theirs.
  const bool turn = !job.round()->claimed.empty();
  leave_round(job);
  if (!turn) ++job.failed_rounds, ++s.counters.failed_rounds;
  job.trouble = why;
  // Longer after every round, with a random part, so that two that collide do not meet again.
  job.backoff =
      s.config.timers.retry_min * (1LL << std::min(std::max(job.failed_rounds, 1U) - 1, 10U));
  wait_again(job, true);
}

}  // namespace starling
