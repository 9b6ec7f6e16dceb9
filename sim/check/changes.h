// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agents/executor/executor_state.h"
#include "agents/step/state.h"

namespace starling {

/// Holds what a core is now against what it was before its last cycle: version numbers and epochs
/// only rise, holds only move along allowed edges.
class Changes {
 public:
  /// The first thing that is wrong, as "RULE what"; empty: nothing.
  [[nodiscard]] std::string look(NodeId node, const AgentState& now);
  /// The same, in words alone: it is about epochs.
  [[nodiscard]] std::string look(NodeId node, const ExecutorState& now);
  /// The executor begins with less than it had, and may count its lives anew.
  void forget(NodeId executor) { executors_.erase(executor); }

 private:
  struct Last {
    Incarnation incarnation;
    std::uint64_t version = 0;
    std::vector<Epoch> epochs;  // of the peers
    std::map<AttemptId, HoldPhase> holds;
  };
  struct LastExecutor {
    Incarnation incarnation;
    Epoch epoch;
  };
  [[nodiscard]] static std::string compare(const Last& last, const AgentState& now);

  std::map<NodeId, Last> last_;
  std::map<NodeId, LastExecutor> executors_;
};

}  // namespace starling
