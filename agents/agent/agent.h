// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/config.h"
#include "agents/output.h"
#include "base/rng.h"
#include "scheduling/policy.h"

namespace starling {

struct AgentState;  // agents/step/state.h: what the checker and the stories look at

/// One scheduler: home of the jobs submitted to it and owner of one partition's GPUs. A pure
/// function of (state, now, event): no socket, thread, clock or file. Same calls, same outputs.
///
/// Decisions are taken at the Tick that follows a change, never inside Received, so that everything
/// that happens at one instant is seen before anything is decided: departures, arrivals, decisions.
class Agent {
 public:
  /// `recovered`: the journal of earlier lives, empty in the first one. `topology` and `speed`
  /// outlive it.
  Agent(AgentConfig config, const Topology& topology, const SpeedModel& speed,
        std::unique_ptr<Policy> policy, Rng rng, std::span<const Record> recovered);
  ~Agent();
  Agent(Agent&&) noexcept;
  Agent& operator=(Agent&&) noexcept;

  /// Appends to `out`. `now` never falls.
  void step(Instant now, const Event& event, Output& out);
  /// When Tick is due at the latest; at or before `now` when a decision is pending.
  [[nodiscard]] Instant next_deadline() const noexcept;

  [[nodiscard]] const AgentConfig& config() const noexcept;
  [[nodiscard]] const AgentState& state() const noexcept;
  [[nodiscard]] AgentStatus status() const;
  /// The driver measures how long a Tick took; if it asked the policy, the figure comes back in
  /// AgentStatus.
  void note_decision_time(Duration took) noexcept;
  void note_refused_frame() noexcept;
  /// Records that replay to the same durable state, for Journal::compact.
  [[nodiscard]] std::vector<Record> snapshot() const;
  /// A second agent in the same state, for searches over all that could happen next. Both share the
  /// policy, which must not remember anything.
  [[nodiscard]] Agent clone() const;

 private:
  explicit Agent(std::unique_ptr<AgentState> state);
  std::unique_ptr<AgentState> state_;
};

}  // namespace starling
