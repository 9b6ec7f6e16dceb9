#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/state.h"

namespace starling {

/// Holds what agents are now against what they were: version numbers only rise, holds only move
/// along allowed edges, and everything that can grow stays within its limit (S11).
class Changes {
 public:
  /// The first thing that is wrong, as "RULE what"; empty: nothing. `agents` by AgentId, null while
  /// down.
  [[nodiscard]] std::string look(std::span<const AgentState* const> agents);

 private:
  struct Last {
    Incarnation incarnation;
    std::uint64_t version = 0;
    std::vector<Epoch> epochs;  // of the peers
    std::map<AttemptId, HoldPhase> holds;
  };
  [[nodiscard]] static std::string compare(const Last& last, const AgentState& now);

  std::vector<Last> last_;
};

}  // namespace starling
