// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/step/owner_step.h"
#include "base/check.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {
namespace {

TaskGroup* group_at(AgentState& s, OwnedShare& share, NodeId executor) {
  for (TaskGroup& group : share.task_groups) {
    if (s.owner.executors[group.executor].node == executor) return &group;
  }
  return nullptr;
}

Allocation launched_as(const OwnedShare& share) {
  return planted(Bug::launched_as_asked) ? Allocation{} : share.allocation;
}

bool all_in(const OwnedShare& share, TaskGroup::State state) {
  return std::all_of(share.task_groups.begin(), share.task_groups.end(),
                     [&](const TaskGroup& group) { return group.state == state; });
}

}  // namespace

void OwnerStep::launch(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: launch");
  for (TaskGroup& group : share.task_groups) {
    group.state = TaskGroup::State::launching;
    start_began(group);
  }
  share.launched = now;
  share.backoff = Duration{0};
  send_launches(attempt, share, TaskGroup::State::launching);
}

void OwnerStep::send_launches(AttemptId attempt, OwnedShare& share, TaskGroup::State of) {
  STARLING_MARK("agent: send_launches");
  // An old copy of this partition's journal knows no better until others have told it.
  if (s.calling_roll()) return s.owner.set_timer(attempt, share, retry_at(share.backoff));
  bool waits = false;
  for (TaskGroup& group : share.task_groups) {
    waits = waits || group.state == TaskGroup::State::unknown;
    if (group.state != of) continue;
    if (share.spec == nullptr) {  // adopted: only the process itself knew what it was
      return fail_share(attempt, share, {0, true, "its executor no longer runs it"});
    }
    waits = true;
    OwnedExecutor& executor = s.owner.executors[group.executor];
    if (!share.allocation.as_asked() && executor.watch.protocol < kAllocationProtocol) {
      STARLING_MARK("agent: a Launch by an allocation that its executor does not know");
      if (!executor.trusted) continue;  // it is not known yet what it speaks
      return fail_share(attempt, share,
                        {0, true, "its executor is older and knows no allocations"});
    }
    executor.launch_sent = now;
    group.told = true;
    send(executor.node, Launch{attempt, s.fence(), *share.spec, share.gang, group.gpus,
                               share.served, launched_as(share)});
  }
  relay_confirmation(attempt, share);
  if (waits) s.owner.set_timer(attempt, share, retry_at(share.backoff));
}

/// Started is said when every executor has. A refusal is final there, so the gang cannot become
/// whole.
void OwnerStep::on(NodeId from, const LaunchResult& result) {
  STARLING_MARK("agent: LaunchResult");
  const auto known = s.owner.shares.find(result.attempt);
  if (known == s.owner.shares.end()) return;
  OwnedShare& share = known->second;
  TaskGroup* group = group_at(s, share, from);
  if (group == nullptr || group->state != TaskGroup::State::launching) return;
  if (!result.ok) {
    group->state = TaskGroup::State::unknown;
    return fail_share(result.attempt, share, {0, true, "an executor refused: " + result.reason});
  }
  group->state = TaskGroup::State::running;
  const bool all =
      std::all_of(share.task_groups.begin(), share.task_groups.end(), [](const TaskGroup& p) {
        return p.state == TaskGroup::State::running || p.state == TaskGroup::State::exited;
      });
  if (!all || share.exit_reported) return;
  share.backoff = Duration{0};
  relay_confirmation(result.attempt, share);
  watch_home(result.attempt, share);
  tell(share.home, Started{result.attempt, s.owner.partition.id});
}

/// The gang cannot go on. The home decides what follows and sends Release; until then it is told
/// again.
void OwnerStep::fail_share(AttemptId attempt, OwnedShare& share, ExitStatus exit) {
  STARLING_MARK("agent: fail_share");
  if (share.exit_reported || s.owner.ledger.find(attempt)->phase == HoldPhase::releasing) return;
  share.exit_reported = true;
  share.exit = std::move(exit);
  share.backoff = Duration{0};
  tell_exited(attempt, share);
}

void OwnerStep::tell_exited(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: tell_exited");
  Duration served = Duration::max();
  for (const TaskGroup& group : share.task_groups) served = std::min(served, group.served);
  s.owner.set_timer(attempt, share, retry_at(share.backoff));
  if (!share.home_known) return ask_home(attempt, share);
  // One that does not answer may be gone for good, so this goes on asking whether any cares.
  const bool old = later(share.confirmed_at, s.config.timers.reconfirm) <= now;
  if (s.lossy() && s.remote_home(share) && old) tell(share.home, question(attempt, share));
  tell(share.home, Exited{attempt, s.owner.partition.id, share.exit, served});
}

/// Of an attempt that is over here: acknowledged, so that the executor can forget it.
void OwnerStep::on_executor(NodeId from, const Exited& exited) {
  STARLING_MARK("agent: Exited of an executor");
  const auto known = s.owner.shares.find(exited.attempt);
  TaskGroup* group = known == s.owner.shares.end() ? nullptr : group_at(s, known->second, from);
  if (group == nullptr) return send(from, ExitedAck{exited.attempt, s.owner.partition.id});
  group_exited(exited.attempt, known->second, *group, exited.exit, exited.served);
}

void OwnerStep::group_exited(AttemptId attempt, OwnedShare& share, TaskGroup& group,
                             const ExitStatus& exit, Duration served) {
  STARLING_MARK("agent: group_exited");
  if (group.state == TaskGroup::State::gone) {
    return send(s.owner.executors[group.executor].node, ExitedAck{attempt, s.owner.partition.id});
  }
  if (group.state == TaskGroup::State::exited) return;
  group.served = served;
  if (group.state == TaskGroup::State::killing) return;  // the Kill is answered with Killed
  judge_start(share, group, exit, served);
  group.state = TaskGroup::State::exited;
  if (exit.lost || exit.code != 0) return fail_share(attempt, share, exit);
  if (share.exit_reported) return;  // of another part, which has failed or was lost
  if (share.exit.log_tail.empty()) share.exit = exit;
  if (all_in(share, TaskGroup::State::exited)) fail_share(attempt, share, share.exit);
}

void OwnerStep::on_executor(NodeId from, const Progress& progress) {
  STARLING_MARK("agent: Progress of an executor");
  const auto known = s.owner.shares.find(progress.attempt);
  if (known == s.owner.shares.end() || group_at(s, known->second, from) == nullptr) return;
  if (known->second.home_known) tell(known->second.home, progress);
  sample(from, known->second, progress);
}

/// Lets go of the GPUs once nothing of the attempt is left on them; then says so.
void OwnerStep::release_share(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: release_share");
  if (s.owner.ledger.find(attempt)->phase == HoldPhase::releasing) return;
  s.owner.ledger.releasing(attempt);
  share.exit_reported = false;
  share.backoff = Duration{0};
  s.owner.set_timer(attempt, share, kNever);
  for (TaskGroup& group : share.task_groups) {
    if (group.state == TaskGroup::State::idle) {
      group.state = TaskGroup::State::gone;
    } else if (group.state == TaskGroup::State::exited) {
      send(s.owner.executors[group.executor].node, ExitedAck{attempt, s.owner.partition.id});
      group.state = TaskGroup::State::gone;
    } else if (group.state != TaskGroup::State::gone) {
      group.state = TaskGroup::State::killing;
    }
  }
  if (planted(Bug::released_before_kill)) {
    tell(share.home, Released{attempt, s.owner.partition.id, Duration{0}});
  }
  if (!all_in(share, TaskGroup::State::gone)) return send_kills(attempt, share);
  check_released(attempt);
}

void OwnerStep::send_kills(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: send_kills");
  for (const TaskGroup& group : share.task_groups) {
    if (group.state != TaskGroup::State::killing) continue;
    send(s.owner.executors[group.executor].node, Kill{attempt, s.fence()});
  }
  s.owner.set_timer(attempt, share, retry_at(share.backoff));
}

void OwnerStep::on(NodeId from, const Killed& killed) {
  STARLING_MARK("agent: Killed");
  const auto known = s.owner.shares.find(killed.attempt);
  if (known == s.owner.shares.end()) return;
  TaskGroup* group = group_at(s, known->second, from);
  if (group == nullptr || group->state != TaskGroup::State::killing) return;
  group->state = TaskGroup::State::gone;
  group->served = std::max(group->served, killed.served);
  check_released(killed.attempt);
}

void OwnerStep::check_released(AttemptId attempt) {
  STARLING_MARK("agent: check_released");
  OwnedShare& share = s.owner.shares.at(attempt);
  if (!all_in(share, TaskGroup::State::gone)) return;
  Duration served = Duration::max();
  for (const TaskGroup& group : share.task_groups) served = std::min(served, group.served);
  const AgentId home = share.home;
  const bool home_known = share.home_known;
  // Of a gang that is wholly ours the home's own record of this step says as much.
  const auto job = s.home.jobs.find(attempt.job);
  const bool follows =
      job != s.home.jobs.end() ? job->second.has(attempt) : s.home.remembered.is_over(attempt.job);
  if (home == me() && share.gang.size() == 1 && follows) {
    s.owner.ledger.forget(attempt);
  } else {
    persist(ShareReleased{attempt});
    if (served > Duration{0}) persist(TombstoneServed{attempt, served});
    s.owner.ledger.release(attempt, served, now, true);
  }
  s.owner.drop_share(attempt);
  change(TriggerKind::departure);
  if (home_known) tell(home, Released{attempt, s.owner.partition.id, served});
}

}  // namespace starling
