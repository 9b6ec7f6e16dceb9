// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/step/owner_step.h"
#include "base/marks.h"
#include "base/planted.h"
#include "base/to_ms.h"
#include "workload/requirements.h"

namespace starling {

/// A hint that holds nothing. A repeat is answered anew.
void OwnerStep::on(NodeId from, const BidRequest& request) {
  STARLING_MARK("agent: BidRequest");
  if (!is_agent(from)) return refuse();
  const AgentId home = agent_of(from);
  if (is_foreign(from))
    return tell(home,
                NoOffer{request.attempt, s.owner.partition.id, "you have read another topology"});
  if (request.claim_ms > 0) {
    if (const auto why = admit_claim(home, request)) {
      return tell(home, ReserveRefused{request.attempt, s.owner.partition.id, *why});
    }
  }
  // A policy offers GPUs of any type, so where only some will do it is asked for more.
  const Occupancy& open = s.owner.open_to(request.attempt.job, now);
  const std::uint32_t all = open.gpus().size();
  const std::uint32_t want = request.gpu_types.empty() ? request.gpus : all;
  Placement gpus = s.policy->offer(view(open), want, request.gpus_per_worker, request.each);
  JobSpec shape;
  shape.gpu_types = request.gpu_types;
  std::erase_if(gpus, [&](GpuId gpu) {
    return !open.gpus().contains(gpu.value) || !open.is_free(gpu) ||
           !allows(shape, s.topology, s.topology.server_of(gpu));
  });
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  if (gpus.size() > request.gpus) gpus.resize(request.gpus);
  std::vector<SharedRoom> shared = rooms_to_share(request);
  if (gpus.empty() && shared.empty())
    return tell(agent_of(from), NoOffer{request.attempt, s.owner.partition.id, "no room"});
  tell(agent_of(from), Offer{request.attempt,
                             {s.owner.partition.id, std::move(gpus)},
                             to_ms(s.config.timers.bid),
                             std::move(shared)});
}

/// Every command names the epoch that its sender believes in; an old one has no effect.
bool OwnerStep::admit(NodeId from, const Fence& fence) {
  STARLING_MARK("agent: admit");
  if (!is_agent(from) || fence.partition != s.owner.partition.id) return refuse(), false;
  if (fence.epoch == s.config.epoch) return true;
  if (fence.epoch < s.config.epoch) {
    STARLING_MARK("agent: an old epoch is told the new one");
    tell(agent_of(from), Fenced{s.owner.partition.id, s.config.epoch});
  }
  return false;
}

/// A repeat extends the hold; after Release: expired.
void OwnerStep::on(NodeId from, const Reserve& reserve) {
  STARLING_MARK("agent: Reserve");
  if (!admit(from, reserve.fence)) return;
  const AgentId home = agent_of(from);
  if (is_foreign(from))
    return tell(home, ReserveRefused{reserve.attempt, s.owner.partition.id, Refusal::invalid});
  const auto asked = std::chrono::milliseconds(reserve.hold_ms);
  const Instant until = later(now, std::min<Duration>(asked, s.config.timers.hold));
  if (s.owner.kept_for_another(reserve.attempt.job, reserve.gpus, now) &&
      s.owner.ledger.find(reserve.attempt) == nullptr) {
    return tell(home, ReserveRefused{reserve.attempt, s.owner.partition.id, Refusal::conflict});
  }
  if (const auto why = s.owner.ledger.reserve(reserve.attempt, home, reserve.gpus, until,
                                              reserve.each, reserve.beside)) {
    STARLING_MARK("agent: a Reserve cannot be had");
    return tell(home, ReserveRefused{reserve.attempt, s.owner.partition.id, *why});
  }
  const Hold* hold = s.owner.ledger.find(reserve.attempt);
  s.owner.set_lapse(reserve.attempt, hold->phase == HoldPhase::reserved ? hold->until : kNever);
  s.flock.digest_due = true;
  tell(home, Reserved{reserve.attempt, s.owner.partition.id});
}

/// Forgotten holds end by themselves.
void OwnerStep::lapse() {
  STARLING_MARK("agent: lapse");
  while (const std::optional<AttemptId> attempt = s.owner.lapses.due(now)) {
    s.owner.set_lapse(*attempt, kNever);
    if (planted(Bug::hold_never_lapses)) continue;
    const Hold* hold = s.owner.ledger.find(*attempt);
    if (hold == nullptr || hold->phase != HoldPhase::reserved || hold->until > now) continue;
    STARLING_MARK("agent: a reserved hold lapses");
    s.owner.ledger.forget(*attempt);
    change(TriggerKind::departure);
  }
}

/// A repeat is confirmed again; a hold that has lapsed is never claimed afresh.
void OwnerStep::on(NodeId from, const Commit& commit) {
  STARLING_MARK("agent: Commit");
  if (!admit(from, commit.fence)) return;
  const AgentId home = agent_of(from);
  const Hold* hold = s.owner.ledger.find(commit.attempt);
  if (hold != nullptr && hold->home != home) return refuse();
  const bool repeat = hold != nullptr && hold->phase != HoldPhase::reserved;
  if (!commit.allocation.as_asked() && hold != nullptr && !repeat &&
      !knows_allocations(hold->gpus)) {
    STARLING_MARK("agent: a Commit with an allocation that an executor here does not know");
    return tell(home, CommitRefused{commit.attempt, s.owner.partition.id, Refusal::never_fits});
  }
  if (const auto why = s.owner.ledger.commit(now, commit.attempt)) {
    STARLING_MARK("agent: a Commit comes too late");
    return tell(home, CommitRefused{commit.attempt, s.owner.partition.id, *why});
  }
  if (!repeat) {
    OwnedShare& share = s.owner.shares[commit.attempt];
    share.home = home;
    share.durable = true;
    share.confirmed_at = now;
    share.confirmed = true;
    share.spec = std::make_shared<const JobSpec>(commit.spec);
    share.gang = commit.gang;
    share.served = commit.served;
    share.allocation = commit.allocation;
    share.task_groups = s.owner.task_groups_of(s.topology, hold->gpus, TaskGroup::State::idle);
    if (!planted(Bug::foreign_share_not_durable)) {
      persist(ShareCommitted{commit.attempt, home, commit});
    }
    end_claim(commit.attempt);
    s.owner.set_lapse(commit.attempt, kNever);
    s.owner.set_timer(commit.attempt, share, later(now, s.config.timers.orphan_query));
  }
  tell(home, Committed{commit.attempt, s.owner.partition.id});
}

namespace {

/// An executor has never heard of a part of it, or has lost it, and it is not the only part:
/// launched anew it might wait for ever for a gang that has gone on without it. That cannot be told
/// after a restart of home and owner, and a Launch that was merely lost costs but another attempt.
bool torn(const AgentState& s, const OwnedShare& share) {
  return share.has_other_parts() && std::any_of(share.task_groups.begin(), share.task_groups.end(),
                                                [&](const TaskGroup& group) {
                                                  return group.state == TaskGroup::State::unknown &&
                                                         s.owner.executors[group.executor].trusted;
                                                });
}

/// Found running rather than committed, and another executor may still be running its other parts.
bool adopted_in_part(const AgentState& s, const OwnedShare& share) {
  return share.spec == nullptr && !s.owner.all_answered();
}

}  // namespace

/// A repeat launches what has not been launched and says again how it went. Not committed here: the
/// home is told that nothing of it is left.
void OwnerStep::on(NodeId from, const StartAttempt& start) {
  STARLING_MARK("agent: StartAttempt");
  if (!admit(from, start.fence)) return;
  const AgentId home = agent_of(from);
  const auto known = s.owner.shares.find(start.attempt);
  if (known == s.owner.shares.end()) {
    STARLING_MARK("agent: a Start of what is not committed");
    const ExitStatus exit{0, true, "it is not committed here"};
    return tell(home, Exited{start.attempt, s.owner.partition.id, exit, Duration{0}});
  }
  OwnedShare& share = known->second;
  if (share.home != home) {
    if (share.home_known) return refuse();
    share.home = home;
    share.home_known = true;
    s.owner.ledger.set_home(start.attempt, home);
  }
  const Hold* hold = s.owner.ledger.find(start.attempt);
  if (hold->phase == HoldPhase::releasing) return;
  if (share.exit_reported) return tell_exited(start.attempt, share);
  if (hold->phase == HoldPhase::committed) {
    persist(ShareLaunched{start.attempt});
    s.owner.ledger.launched(start.attempt);
    return launch(start.attempt, share);
  }
  if (torn(s, share)) {
    return fail_share(start.attempt, share, {0, true, "a part of it is gone"});
  }
  // Task groups of an earlier life are launched again only once their executor has answered: its
  // answer comes first.
  bool running = true;
  for (TaskGroup& group : share.task_groups) {
    if (group.state == TaskGroup::State::unknown && s.owner.executors[group.executor].trusted) {
      group.state = TaskGroup::State::launching;
      share.launched = now;
    }
    running = running &&
              (group.state == TaskGroup::State::running || group.state == TaskGroup::State::exited);
  }
  if (running) return tell(home, Started{start.attempt, s.owner.partition.id});
  send_launches(start.attempt, share, TaskGroup::State::launching);
}

/// Valid in every state, also before the Reserve: a tombstone refuses what comes late. Answered
/// only once nothing of the attempt runs here.
void OwnerStep::on(NodeId from, const Release& release) {
  STARLING_MARK("agent: Release");
  if (!admit(from, release.fence)) return;
  const AgentId home = agent_of(from);
  if (s.owner.claim && s.owner.claim->home == home) end_claim(release.attempt);
  const auto known = s.owner.shares.find(release.attempt);
  if (known != s.owner.shares.end() && !known->second.home_known) {
    known->second.home = home;
    known->second.home_known = true;
    s.owner.ledger.set_home(release.attempt, home);
  }
  const Hold* hold = s.owner.ledger.find(release.attempt);
  if (hold == nullptr) {
    STARLING_MARK("agent: a Release of what is not held");
    const Duration* served = s.owner.ledger.released(release.attempt);
    // A journal that had to start empty knows of nothing that runs. The home asks again.
    if (served == nullptr && !s.owner.all_answered()) return;
    if (served == nullptr) s.owner.ledger.release(release.attempt, Duration{0}, now);
    return tell(home,
                Released{release.attempt, s.owner.partition.id, served ? *served : Duration{0}});
  }
  if (hold->home != home) return refuse();
  if (known == s.owner.shares.end()) {  // reserved: nothing durable, nothing started
    STARLING_MARK("agent: a Release of what is only reserved");
    s.owner.ledger.release(release.attempt, Duration{0}, now);
    s.owner.set_lapse(release.attempt, kNever);
    change(TriggerKind::departure);
    return tell(home, Released{release.attempt, s.owner.partition.id, Duration{0}});
  }
  if (adopted_in_part(s, known->second)) return;
  release_share(release.attempt, known->second);
}

void OwnerStep::on(NodeId from, const AttemptAnswer& answer) {
  STARLING_MARK("agent: AttemptAnswer");
  const auto known = s.owner.shares.find(answer.attempt);
  if (!is_agent(from) || known == s.owner.shares.end()) return;
  OwnedShare& share = known->second;
  if (share.home_known && agent_of(from) != share.home) return refuse();
  const HoldPhase phase = s.owner.ledger.find(answer.attempt)->phase;
  const bool fresh = answered(share, answer);
  if (answer.life == AttemptLife::live) {
    if (!share.home_known) {
      share.home = agent_of(from);
      share.home_known = true;
      s.owner.ledger.set_home(answer.attempt, share.home);
    }
    // An answer that was overtaken by the end of the attempt must not start anything.
    if (!fresh || phase != HoldPhase::launched) return;
    relay_confirmation(answer.attempt, share);
    if (torn(s, share)) {
      STARLING_MARK("agent: a part of a gang is gone");
      return fail_share(answer.attempt, share, {0, true, "a part of it is gone"});
    }
    bool again = false;
    for (TaskGroup& group : share.task_groups) {
      if (group.state != TaskGroup::State::unknown || !s.owner.executors[group.executor].trusted)
        continue;
      group.state = TaskGroup::State::launching;
      again = true;
    }
    if (!again) {
      const bool runs =
          std::all_of(share.task_groups.begin(), share.task_groups.end(), [](const TaskGroup& p) {
            return p.state == TaskGroup::State::running || p.state == TaskGroup::State::exited;
          });
      if (runs && !share.exit_reported) watch_home(answer.attempt, share);
      return;
    }
    share.launched = now;
    share.backoff = Duration{0};
    send_launches(answer.attempt, share, TaskGroup::State::launching);
  } else if (answer.life == AttemptLife::dead) {
    if (phase == HoldPhase::releasing) return;
    if (!share.home_known) {
      STARLING_MARK("agent: one more knows nothing of an orphan");
      share.denied.insert(agent_of(from));
      if (share.denied.size() < s.flock.peers.size()) return;
    }
    if (adopted_in_part(s, share)) return;
    release_share(answer.attempt, share);
  }
}

/// The home has made what follows from the exit durable.
void OwnerStep::on(NodeId from, const ExitedAck& ack) {
  STARLING_MARK("agent: ExitedAck at its owner");
  const auto known = s.owner.shares.find(ack.attempt);
  if (!is_agent(from) || known == s.owner.shares.end()) return;
  OwnedShare& share = known->second;
  if (share.home_known && agent_of(from) != share.home) return refuse();
  release_share(ack.attempt, share);
}

}  // namespace starling
