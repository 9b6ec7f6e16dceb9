// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/step/owner_step.h"
#include "base/marks.h"

namespace starling {
namespace {

bool touches(const Placement& gpus, IndexRange range) {
  return std::any_of(gpus.begin(), gpus.end(), [&](GpuId g) { return range.contains(g.value); });
}

}  // namespace

/// From an operator. Durable before it is answered. A repeat changes nothing, but evicts again; one
/// that was overtaken by a later word does nothing.
void OwnerStep::on(NodeId from, const SetDrain& drain) {
  if (!is_agent(from) && !by.is_operator) {
    STARLING_MARK("agent: a drain by who is no operator");
    return send(from, DrainState{drain.server, false, 0, Refusal::denied});
  }
  if (!s.owner.partition.servers.contains(drain.server.value))
    return send(from, DrainState{drain.server, false, 0, Refusal::invalid});
  const bool changes = s.owner.ledger.is_drained(drain.server) != drain.drained;
  const auto heard = s.owner.drain_versions.find(drain.server);
  const std::uint64_t newest = heard == s.owner.drain_versions.end() ? 0 : heard->second;
  if (drain.version != 0 && (drain.version < newest || (drain.version == newest && changes))) {
    STARLING_MARK("agent: a drain comes too late");
    return send(from,
                DrainState{drain.server, drain.drained != changes, 0, Refusal::expired, newest});
  }
  if (drain.version > newest) {
    persist(DrainVersion{drain.server, drain.version});
    s.owner.drain_versions[drain.server] = drain.version;
  }
  if (changes) {
    persist(ServerDrained{drain.server, drain.drained});
    s.owner.ledger.set_drained(drain.server, drain.drained);
    change(drain.drained ? TriggerKind::round : TriggerKind::departure);
  }
  const IndexRange gpus = s.topology.server(drain.server).gpus;
  std::uint32_t attempts = 0;
  for (const auto& [attempt, hold] : s.owner.ledger.holds())
    attempts += touches(hold.gpus, gpus) ? 1U : 0U;
  if (drain.drained && drain.evict) give_up(gpus, "an operator evicted it: its server is drained");
  send(from, DrainState{drain.server, drain.drained, attempts, Refusal::unknown,
                        std::max(drain.version, newest)});
}

/// Every attempt that may still run on a GPU in `gpus` ends here as lost, so that its home starts
/// it anew elsewhere. One whose processes there have ended well needs them no more: the rest of its
/// gang goes on to the same end.
void OwnerStep::give_up(IndexRange gpus, const std::string& why) {
  std::vector<AttemptId> reserved;
  for (const auto& [attempt, hold] : s.owner.ledger.holds()) {
    if (hold.phase == HoldPhase::reserved && touches(hold.gpus, gpus)) reserved.push_back(attempt);
  }
  // Its home hears of it when it wants to commit.
  for (const AttemptId attempt : reserved) {
    s.owner.ledger.forget(attempt);
    s.owner.set_lapse(attempt, kNever);
  }
  if (!reserved.empty()) change(TriggerKind::departure);
  const auto runs_there = [&](const TaskGroup& group) {
    const bool over =
        group.state == TaskGroup::State::exited || group.state == TaskGroup::State::gone;
    return !over && touches(group.gpus, gpus);
  };
  for (auto& [attempt, share] : s.owner.shares) {
    if (std::any_of(share.task_groups.begin(), share.task_groups.end(), runs_there))
      fail_share(attempt, share, {0, true, why});
  }
}

/// What an executor says of its GPUs' health. Versions only rise; 0 is said by those that know
/// none.
void OwnerStep::take_health(OwnedExecutor& executor, std::uint64_t version, const Placement& sick) {
  if (version != 0 && version <= executor.health) return;
  executor.health = version;
  const IndexRange gpus{s.topology.server(ServerId{executor.servers.first}).gpus.first,
                        s.topology.server(ServerId{executor.servers.last - 1}).gpus.last};
  const std::set<GpuId> before = s.owner.ledger.sick();
  for (const GpuId gpu : before) {
    const bool still = std::binary_search(sick.begin(), sick.end(), gpu);
    if (gpus.contains(gpu.value) && !still) s.owner.ledger.set_sick(gpu, false);
  }
  for (const GpuId gpu : sick) {
    if (!gpus.contains(gpu.value) || before.contains(gpu)) continue;
    s.owner.ledger.set_sick(gpu, true);
    give_up({gpu.value, gpu.value + 1}, "GPU " + std::to_string(gpu.value) + " is bad");
  }
  change(TriggerKind::departure);
}

/// Answered every time, so that the executor stops repeating it.
void OwnerStep::on(NodeId from, const GpuHealth& health) {
  OwnedExecutor* executor = executor_at(from);
  if (executor == nullptr) return refuse();
  take_health(*executor, health.version, health.sick);
  send(from, GpuHealthSeen{health.version});
}

}  // namespace starling
