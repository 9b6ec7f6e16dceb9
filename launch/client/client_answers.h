// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agents/message.h"
#include "base/ids.h"

namespace starling {

// What a flock answers its clients (launch/client/flock_client.h). `silent` are the agents that
// have not answered in time: what only they know is missing.

struct JobsFound {
  std::vector<JobState> jobs;  ///< by id
  std::vector<AgentId> silent;
};

struct AgentsFound {
  std::vector<AgentStatus> agents;  ///< by agent
  std::vector<AgentId> silent;
};

struct SubmittedJob {
  bool over = false;  ///< there was a job of that id, and it has ended
};

struct ExplainedJob {
  std::vector<std::string> lines;  ///< for people
  std::vector<AgentId> silent;     ///< have GPUs of it; a line says so of each
};

struct CancelledJob {
  JobState state;           ///< not terminal: it has not ended in time, or `denied`
  std::string denied = {};  ///< why this key may not end it
};

struct ChangedJob {
  JobState state;       ///< as it is now; as it was, where it is not `done`
  bool done = false;    ///< durable at its home
  std::string refused;  ///< why not; empty and not done: its home has not answered
};

struct MemberState {
  AgentId agent;
  bool member = false;
  std::vector<PartitionId> should_serve, serves;  ///< ascending
};
struct MembersFound {
  std::vector<MemberState> agents;  ///< all, by agent
  std::vector<AgentId> silent;
};

struct MembersChange {
  AgentId agent;               ///< that came or left
  std::vector<AgentId> hosts;  ///< of each partition, from now on
  struct Move {
    PartitionId partition;
    AgentId from, to;
  };
  std::vector<Move> moves;
};

/// "agent-1 does not answer", "agent-1, agent-2 do not answer"; empty for none.
[[nodiscard]] std::string silence_text(const std::vector<AgentId>& silent);
/// Why this user's key may not do what only operators do.
[[nodiscard]] std::string no_operator_text(const std::string& user);

}  // namespace starling
