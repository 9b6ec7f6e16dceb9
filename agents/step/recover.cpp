// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>

#include "agents/step/state.h"
#include "workload/requirements.h"

namespace starling {
namespace {

/// One record of an earlier life at a time. What contradicts the earlier ones is ignored: the
/// journal is checked where it is read.
struct Replay {
  AgentState& s;

  Job* job_of(AttemptId attempt) {
    const auto known = s.home.jobs.find(attempt.job);
    return known == s.home.jobs.end() || !known->second.has(attempt) ? nullptr : &known->second;
  }
  /// The home's record implies the end of a share that was the whole gang.
  void drop_own_share(AttemptId attempt) {
    const auto share = s.owner.shares.find(attempt);
    if (share == s.owner.shares.end() || share->second.home != s.config.me) return;
    if (share->second.gang.size() != 1) return;
    s.owner.ledger.forget(attempt);
    s.owner.drop_share(attempt);
  }
  /// Of a record's date; none where that is below zero, or this life has no calendar.
  std::optional<Instant> instant_of(Duration date) const {
    if (!s.config.calendar || date < Duration{0}) return std::nullopt;
    return Instant(date - *s.config.calendar);
  }

  void operator()(const LifeBegan&) {}
  void operator()(const JobAccepted& r) {
    const JobId id = r.submit.spec.id;
    std::vector<AgentId> offered;
    if (const auto gone = s.home.remembered.moved.find(id); gone != s.home.remembered.moved.end())
      offered = gone->second.offered;
    ++s.counters.accepted;
    Job& job = s.home.jobs[id];
    job = Job{};
    job.spec = std::make_shared<const JobSpec>(r.submit.spec);
    job.client = r.submit.client;
    job.order = r.order;
    job.waited = r.submit.waited;
    job.served = r.submit.served;
    job.forwards = r.submit.forwards;
    job.attempts = r.submit.attempts;
    job.preemptions = r.submit.preemptions;
    job.came_back(std::move(offered));
    const bool first = r.submit.forwards == 0;  // else it waits for nothing of that any more
    job.held = first && job.spec->terms.hold;
    job.met = first ? 0 : ~std::uint64_t{0};
    job.failures = r.submit.failures;
    s.home.arrivals = std::max(s.home.arrivals, r.order);
  }
  void operator()(const AttemptStarting& r) {
    const auto known = s.home.jobs.find(r.attempt.job);
    if (known == s.home.jobs.end()) return;
    Job& job = known->second;
    Attempt& attempt = job.doing.emplace<Job::Run>().attempt;
    attempt.id = r.attempt;
    for (const Share& share : r.gang) {
      const PeerState* owner = s.flock.owner_of(share.partition);
      if (owner == nullptr) continue;
      attempt.parts.emplace_back();
      attempt.parts.back().share = share;
      attempt.parts.back().agent = owner->peer.agent;
    }
    attempt.allocation = r.allocation;
    job.placement = all_gpus(attempt);
    job.allocation = r.allocation;
    job.last = r.attempt;
    ++job.attempts;
  }
  void operator()(const AttemptDraining& r) {
    if (Job* job = job_of(r.attempt)) job->run()->drain = Job::Run::Drain{};
  }
  void operator()(const AttemptPlan& r) {
    Job* job = job_of(r.attempt);
    if (job == nullptr || job->stage() != Stage::draining) return;
    job->run()->drain = {r.after, r.restart_at, r.restart_as};
    job->run()->exit = r.exit;
  }
  void operator()(const JobPast& r) {
    const auto known = s.home.jobs.find(r.job);
    if (known == s.home.jobs.end()) return;
    Job& job = known->second;
    job.attempts = r.attempts;
    job.preemptions = r.preemptions;
    job.lost_attempts = r.lost_attempts;
    job.requeued = r.requeued;
    job.waits_since = kNever;
    const std::optional<Instant> submitted = instant_of(r.submitted);
    if (!submitted) return;
    job.dated = true;
    job.submitted = *submitted;
    job.waits_since = instant_of(r.waits_since).value_or(kNever);
    job.first_start = instant_of(r.first_start).value_or(job.first_start);
  }
  void operator()(const JobStanding& r) {
    const auto known = s.home.jobs.find(r.job);
    if (known == s.home.jobs.end()) return;
    Job& job = known->second;
    job.held = r.held;
    job.met = r.met;
    job.failures = r.failures;
    job.failure = r.last;
    job.not_before = instant_of(r.not_before).value_or(Instant::min());
  }
  void operator()(const AttemptOver& r) {
    drop_own_share(r.attempt);
    Job* job = job_of(r.attempt);
    if (job == nullptr) return;
    if (const auto& drain = job->run()->drain) {
      if (drain->after == AfterDrain::wait) ++job->preemptions;
      if (drain->after == AfterDrain::retry) ++job->lost_attempts;
    }
    job->served += r.served;
    job->doing = Job::Waiting{};
  }
  void operator()(const JobOffered& r) {
    const auto known = s.home.jobs.find(r.job);
    if (known == s.home.jobs.end()) return;
    Job& job = known->second;
    if (r.to == s.config.me) {
      job.doing = Job::Waiting{};
    } else {
      job.offer_to(r.to);
    }
  }
  void operator()(const JobMoved& r) {
    const auto known = s.home.jobs.find(r.job);
    if (known == s.home.jobs.end()) return;
    s.home.remembered.moved[r.job] =
        Moved{r.to, known->second.forwards + 1, std::move(known->second.offered)};
    s.home.jobs.erase(known);
    s.home.remembered.add_moved(r.job, s.config.limits);
  }
  void operator()(const JobsCounted& r) {
    s.counters.accepted = r.accepted;
    s.counters.finished = r.finished;
    s.counters.failed = r.failed;
    s.counters.cancelled = r.cancelled;
  }
  void operator()(const JobEnded& r) {
    s.count_ended(r.state.phase);
    if (const auto known = s.home.jobs.find(r.job); known != s.home.jobs.end()) {
      if (const Attempt* attempt = known->second.attempt()) drop_own_share(attempt->id);
      s.home.jobs.erase(known);
    }
    s.home.remembered.add_ended(r.state, s.config.limits);
  }
  void operator()(const JobsArchived& r) { s.home.remembered.put_away(r); }
  void operator()(const ArchiveDropped& r) { s.home.remembered.archive.drop(r.chunk); }
  void operator()(const OffersOwed& r) { s.home.remembered.archive.owe(r); }
  void operator()(const OffersSettled& r) {
    for (const JobId& job : r.jobs) s.home.remembered.archive.settle(job);
  }
  void operator()(const ShareCommitted& r) {
    const auto own = std::find_if(r.commit.gang.begin(), r.commit.gang.end(), [&](const Share& g) {
      return g.partition == s.owner.partition.id;
    });
    if (own == r.commit.gang.end()) return;
    const Job* job = r.home == s.config.me ? job_of(r.attempt) : nullptr;
    // Of a gang that is wholly ours the decision to start stands before the share.
    const bool starting = job != nullptr && r.commit.gang.size() == 1;
    const HoldPhase phase = starting ? HoldPhase::launched : HoldPhase::committed;
    const Demand each = demand_of(job != nullptr ? *job->spec : r.commit.spec);
    if (!s.owner.ledger.adopt(r.attempt, r.home, own->gpus, phase, each)) {
      s.owner.overfull = s.owner.overfull || s.owner.ledger.find(r.attempt) == nullptr;
      return;
    }
    OwnedShare& share = s.owner.shares[r.attempt];
    share.home = r.home;
    share.durable = true;
    share.gang = r.commit.gang;
    share.served = r.commit.served;
    share.allocation = r.commit.allocation;
    share.spec = job != nullptr ? job->spec : std::make_shared<const JobSpec>(r.commit.spec);
    share.task_groups = s.owner.task_groups_of(
        s.topology, own->gpus, starting ? TaskGroup::State::unknown : TaskGroup::State::idle);
  }
  void operator()(const ShareLaunched& r) {
    const auto known = s.owner.shares.find(r.attempt);
    if (known == s.owner.shares.end()) return;
    s.owner.ledger.launched(r.attempt);
    for (TaskGroup& group : known->second.task_groups) group.state = TaskGroup::State::unknown;
  }
  void operator()(const ShareReleased& r) {
    s.owner.ledger.release(r.attempt, Duration{0}, {}, true);
    s.owner.drop_share(r.attempt);
  }
  void operator()(const ServerDrained& r) {
    if (s.owner.partition.servers.contains(r.server.value))
      s.owner.ledger.set_drained(r.server, r.drained);
  }
  void operator()(const DrainVersion& r) {
    if (s.owner.partition.servers.contains(r.server.value))
      s.owner.drain_versions[r.server] = r.version;
  }
  void operator()(const TombstoneServed& r) {
    s.owner.ledger.tombstones().set_served(r.attempt, r.served);
  }
  void operator()(const TombstonesDropped& r) { s.owner.ledger.tombstones().drop(r.attempts); }
  /// The keeper's home goes by the same record as the keeper.
  void operator()(const QueuesSet& r) {
    if (s.keeper) s.keeper->replay(r);
    if (s.home.quota.portions.set_tree(r.tree)) s.home.name_queues();
  }
  void operator()(const QuotaPortions& r) {
    if (s.keeper) s.keeper->replay(r);
  }
  void operator()(const EpochSeen& r) {
    const PeerState* owner = s.flock.owner_of(r.partition);
    if (owner == nullptr) return;
    Epoch& known = s.flock.peers[owner->peer.agent.value].epoch;
    known = std::max(known, r.epoch);
  }
  template <class OfExecutors>
  void operator()(const OfExecutors&) {}
};

}  // namespace

void AgentState::count_ended(JobPhase phase) {
  if (phase == JobPhase::finished) {
    ++counters.finished;
  } else if (phase == JobPhase::failed) {
    ++counters.failed;
  } else {
    ++counters.cancelled;
  }
}

Duration AgentState::date_of(Instant at) const {
  return std::max(*config.calendar + at.time_since_epoch(), Duration{0});
}

JobPast AgentState::past_of(const Job& job) const {
  JobPast past;
  past.job = job.spec->id;
  past.submitted = past.first_start = Duration{-1};
  past.attempts = job.attempts;
  past.preemptions = job.preemptions;
  past.lost_attempts = job.lost_attempts;
  past.requeued = job.requeued;
  if (!config.calendar || (!begun && !job.dated)) return past;
  past.submitted = date_of(job.submitted);
  if (job.first_start != kNever) past.first_start = date_of(job.first_start);
  if (job.waits_since != kNever) past.waits_since = date_of(job.waits_since);
  return past;
}

JobStanding AgentState::standing_of(const Job& job) const {
  JobStanding standing{job.spec->id, job.held, job.met, job.failures, Duration{-1}, job.failure};
  if (config.calendar && job.not_before > now) standing.not_before = date_of(job.not_before);
  return standing;
}

void AgentState::replay(const Record& record) { std::visit(Replay{*this}, record); }

}  // namespace starling
