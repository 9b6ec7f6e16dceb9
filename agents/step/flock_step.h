// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agents/step/agent_step.h"

namespace starling {

/// Which nodes can be heard, and what agents tell one another of themselves.
struct FlockStep : AgentStep {
  using AgentStep::AgentStep;

  // liveness.cpp: which nodes can be heard
  void on(NodeId from, const Ping& ping);
  void on(NodeId from, const Pong& pong);
  void on(NodeId from, const ProbeFor& probe);
  void on(NodeId from, const ProbeResult& result);
  void heard(NodeId from, std::uint16_t protocol);
  /// Null: no node that this agent watches.
  [[nodiscard]] Watch* watch_of(NodeId node);
  /// Heard of lately: worth asking for something.
  [[nodiscard]] bool reachable(const Watch& watch) const;
  [[nodiscard]] bool silent(const Watch& watch) const;
  void ask_about(NodeId node, Watch& watch);
  void judge(NodeId node, Watch& watch);
  void forgive(Duration lag);

  // lost.cpp
  [[nodiscard]] bool lost(Instant heard) const;

  // session.cpp: introductions
  void greet(const PeerState& peer);
  [[nodiscard]] std::uint64_t topology() const;
  [[nodiscard]] bool is_other_topology(std::uint64_t theirs) const;
  [[nodiscard]] bool is_foreign(NodeId node);
  void on(NodeId from, const Welcome& welcome);
  void heard_epoch(PeerState& peer, Epoch epoch);
  void on(NodeId from, const Fenced& fenced);
  void on(NodeId from, const Goodbye&);

  // digest.cpp: what agents tell one another of their partitions
  /// The flock is too large for each agent to tell all others.
  [[nodiscard]] bool gossips() const;
  void on(NodeId from, const Digest& digest);
  void on(NodeId from, const Digests& digests);
  [[nodiscard]] bool is_news(const PeerState& peer, const Digest& digest, Instant said) const;
  bool take(PeerState& peer, const Digest& digest, Instant said);
  void news();
  void draft_digest();
  void send_digests();
  void say_to_all();
  void say_to_few();
  void pass_on_news();
  void pass_on();
  void tell_news(AgentId to);
};

/// Its last digest, which there must be, as policies read it; valid as long as that.
[[nodiscard]] RemoteDigest said_by(const PeerState& peer);

}  // namespace starling
