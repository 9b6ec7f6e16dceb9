// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/step/owner_step.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {

void OwnerStep::request_inventory(OwnedExecutor& executor) {
  STARLING_MARK("agent: request_inventory");
  if (executor.asked == kNever) {
    executor.asked = now;
    executor.backoff = Duration{0};
  }
  send(executor.node, InventoryRequest{s.fence(), topology()});
  executor.timer = retry_at(executor.backoff);
}

/// What runs at one executor, against the ledger. Its GPUs can be given away from now on. A repeat
/// is out of date.
void OwnerStep::on(NodeId from, const Inventory& inventory) {
  STARLING_MARK("agent: Inventory");
  const auto known = s.owner.executor_index.find(from);
  if (known == s.owner.executor_index.end()) return refuse();
  OwnedExecutor& executor = s.owner.executors[known->second];
  const bool other = inventory.fence != s.fence() && !planted(Bug::inventory_of_any_epoch);
  if (executor.trusted || other || executor.watch.foreign) return;
  bool rightful = true;
  for (const InventoryItem& item : inventory.items) {
    rightful = reconcile(known->second, item) && rightful;
  }

  const auto listed = [&](AttemptId attempt) {
    return std::any_of(inventory.items.begin(), inventory.items.end(),
                       [&](const InventoryItem& item) { return item.attempt == attempt; });
  };
  std::vector<AttemptId> missing;
  for (auto& [attempt, share] : s.owner.shares) {
    for (TaskGroup& group : share.task_groups) {
      if (group.executor != known->second || listed(attempt)) continue;
      // The executor has never heard of it, or lost it, or had not heard of it yet when it said so.
      // Only the home knows whether it may be launched; if it runs, that changes nothing. A Launch
      // that was not answered may have been carried out, too: others of its gang wait for ever for
      // a part that is launched a second time.
      const bool old = share.launched == kNever || share.launched < executor.asked;
      const bool perhaps = group.state == TaskGroup::State::launching && group.told;
      const bool began =
          group.state == TaskGroup::State::running || (perhaps && share.has_other_parts());
      if (began && old) group.state = TaskGroup::State::unknown;
      if (group.state == TaskGroup::State::unknown) missing.push_back(attempt);
    }
  }
  if (inventory.health != 0 || executor.health != 0)
    take_health(executor, inventory.health, inventory.sick);
  // Not trusted while something is there that has to go first: asked again until it is gone.
  if (rightful) {
    executor.trusted = true;
    executor.ever_answered = true;
    executor.asked = kNever;
    executor.timer = kNever;
    s.owner.ledger.trust(executor.servers);
  }
  for (const AttemptId attempt : missing) {
    STARLING_MARK("agent: an executor has never heard of a share");
    OwnedShare& share = s.owner.shares.at(attempt);
    if (!share.exit_reported) ask_home(attempt, share);
  }
  change(TriggerKind::departure);
}

bool OwnerStep::is_over_here(AttemptId attempt) const {
  const auto job = s.home.jobs.find(attempt.job);
  return job == s.home.jobs.end() ? s.home.remembered.is_over(attempt.job)
                                  : !job->second.has(attempt);
}

bool OwnerStep::reconcile(std::uint32_t index, const InventoryItem& item) {
  STARLING_MARK("agent: reconcile");
  const NodeId executor = s.owner.executors[index].node;
  const auto known = s.owner.shares.find(item.attempt);
  if (known == s.owner.shares.end()) {
    if (item.exited) return send(executor, ExitedAck{item.attempt, s.owner.partition.id}), true;
    // A gang that was wholly ours leaves no tombstone: its home's word, which is here, says it.
    const bool ours =
        !is_over_here(item.attempt) && s.owner.ledger.released(item.attempt) == nullptr &&
        s.owner.ledger.adopt(item.attempt, me(), item.gpus, HoldPhase::launched, item.each);
    if (!ours) STARLING_MARK("agent: an executor runs what was released");
    if (!ours) return send(executor, Kill{item.attempt, s.fence()}), false;
    STARLING_MARK("agent: an executor runs what the journal does not know");
    OwnedShare& share = s.owner.shares[item.attempt];
    share.home_known = false;
    share.task_groups = s.owner.task_groups_of(s.topology, item.gpus, TaskGroup::State::running);
    share.launched = now;
    share.confirmed_at = now;
    return ask_home(item.attempt, share), true;
  }
  OwnedShare& share = known->second;
  const auto at = std::find_if(share.task_groups.begin(), share.task_groups.end(),
                               [&](const TaskGroup& group) { return group.executor == index; });
  if (at == share.task_groups.end()) {
    if (item.exited) return send(executor, ExitedAck{item.attempt, s.owner.partition.id}), true;
    return send(executor, Kill{item.attempt, s.fence()}), false;
  }
  if (item.exited) {
    group_exited(item.attempt, share, *at, item.exit, item.served);
    return true;
  }
  if (at->state == TaskGroup::State::killing) {
    send(executor, Kill{item.attempt, s.fence()});
    return true;
  }
  if (at->state == TaskGroup::State::gone) {  // counted as lost: its clock is slower than it may be
    return send(executor, Kill{item.attempt, s.fence()}), false;
  }
  if (at->state != TaskGroup::State::unknown && at->state != TaskGroup::State::launching) {
    relay_confirmation(item.attempt, share);  // a new life of it may have lost what was said before
    return true;
  }
  at->state = TaskGroup::State::running;
  const bool all =
      std::all_of(share.task_groups.begin(), share.task_groups.end(), [](const TaskGroup& group) {
        return group.state == TaskGroup::State::running || group.state == TaskGroup::State::exited;
      });
  if (!all || share.exit_reported) return true;
  relay_confirmation(item.attempt, share);
  watch_home(item.attempt, share);
  if (share.home_known) tell(share.home, Started{item.attempt, s.owner.partition.id});
  return true;
}

/// Repeated until the home has answered.
void OwnerStep::ask_home(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: ask_home");
  s.owner.set_timer(attempt, share, later(now, s.config.timers.orphan_query));
  if (planted(Bug::orphan_query_missing)) return;
  const AttemptQuery query = question(attempt, share);
  if (share.home_known) return tell(share.home, query);
  for (const PeerState& peer : s.flock.peers) tell(peer.peer.agent, query);
}

}  // namespace starling
