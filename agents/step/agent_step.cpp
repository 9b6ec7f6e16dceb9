// SPDX-License-Identifier: Apache-2.0
#include "agents/step/agent_step.h"

#include <algorithm>
#include <bit>

#include "base/planted.h"

namespace starling {

void AgentStep::tell(AgentId to, Message message) {
  if (to == me()) {
    s.loop.push_back(std::move(message));
  } else {
    out.send.push_back({agent_node(to), std::move(message)});
  }
}

OwnedExecutor* AgentStep::executor_at(NodeId node) {
  const auto at = s.owner.executor_index.find(node);
  return at == s.owner.executor_index.end() ? nullptr : &s.owner.executors[at->second];
}

Instant AgentStep::retry_at(Duration& backoff) {
  const Timers& timers = s.config.timers;
  backoff = std::clamp(backoff * 2, timers.retry_min, timers.retry_max);
  const Duration half = backoff / 2;
  if (planted(Bug::hidden_input)) {
    return later(
        now,
        half + Duration(static_cast<std::int64_t>(std::bit_cast<std::uintptr_t>(&s) >> 4U) % 1000));
  }
  const auto jitter =
      Duration(static_cast<std::int64_t>(static_cast<double>(half.count()) * s.rng.uniform()));
  return later(now, half + jitter);
}

void AgentStep::change(TriggerKind kind) {
  // Arrivals are what policies most want to know of, then departures.
  if (!s.deciding.due || kind < s.deciding.trigger) s.deciding.trigger = kind;
  s.deciding.due = true;
  s.flock.digest_due = true;
}

Fence AgentStep::fence_of(PartitionId partition) const {
  const PeerState* owner = s.flock.owner_of(partition);
  return {partition, owner == nullptr ? Epoch{} : owner->epoch};
}

}  // namespace starling
