// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agents/step/home_step.h"

namespace starling {

/// The whole of a step: brings messages and timers to the roles, and answers questions.
struct Step : HomeStep {
  using HomeStep::HomeStep;
  using HomeStep::on;

  // agent.cpp
  void begin();
  void resume_runs(std::vector<Job*> running);
  void receive(NodeId from, const Message& message);
  void settle();  ///< handles what the agent says to itself
  void tick();

  // explain.cpp
  void on(NodeId from, const Explain& explain);
  void on(NodeId from, const StatusQuery& query);

  // Kinds that both roles of an agent hear, told apart by the sender.
  void on(NodeId from, const Exited& exited);
  void on(NodeId from, const Progress& progress);
  template <class Other>
  void on(NodeId, const Other&) {
    refuse();
  }
};

[[nodiscard]] AgentStatus status_of(const AgentState& s);
/// Why the job stands where it stands, for people.
[[nodiscard]] std::vector<std::string> explain(AgentState& s, JobId job, Instant now);

}  // namespace starling
