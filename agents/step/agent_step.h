// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "agents/step/state.h"

namespace starling {

/// One step of an Agent: the state, the instant and where the outcome goes. What any part of it may
/// do. Its parts are layers, each of which sees those below and none above: which nodes can be
/// heard (FlockStep), the owner of GPUs (OwnerStep), the home of jobs (HomeStep), and what brings
/// messages and timers to them (Step). Handlers stand in files by subject; what a repeat or a
/// latecomer does stands at each. Internal to agents/.
struct AgentStep {
  AgentStep(AgentState& state, Instant instant, Output& output)
      : s(state), now(instant), out(output) {}

  AgentState& s;
  Instant now;
  Output& out;
  Asker by = {};  ///< who stands behind what a client says in this step

  [[nodiscard]] AgentId me() const { return s.config.me; }
  [[nodiscard]] bool is_agent(NodeId node) const {
    return node.value > 0 && node.value <= s.flock.peers.size();
  }
  [[nodiscard]] AgentId agent_of(NodeId node) const { return AgentId{node.value - 1}; }
  [[nodiscard]] OwnedExecutor* executor_at(NodeId node);
  void tell(AgentId to, Message message);
  void send(NodeId to, Message message) { out.send.push_back({to, std::move(message)}); }
  void persist(Record record) { out.persist.push_back(std::move(record)); }
  void refuse() { ++s.counters.refused_frames; }
  /// Doubles `backoff` within the limits; half of it plus a random part of the other half from now.
  [[nodiscard]] Instant retry_at(Duration& backoff);
  void change(TriggerKind kind);
  [[nodiscard]] Fence fence_of(PartitionId partition) const;
};

}  // namespace starling
