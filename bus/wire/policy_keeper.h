// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "agents/step/state.h"
#include "scheduling/policy_memory.h"

namespace starling {

/// Lets the policy of an agent learn between its steps, and keeps what it has learned.
class PolicyKeeper {
 public:
  /// A cycle keeps what is new so long after one last did, at the earliest, and no more bytes in a
  /// second than these: at most what came in the last eight seconds is lost with the process, if
  /// cycles follow one another.
  static constexpr Duration kApart = std::chrono::seconds(1);
  static constexpr double kBytesInSecond = 64 * 1024;

  /// Both outlive it; without `memory` nothing is kept. Gives the policy back what was `kept` of
  /// one that was `made_of` the same, before its first decision. Where the flock has no calendar
  /// instants are counted from `now`, so what happened while no agent served the partition took no
  /// time.
  Status take_up(Policy& policy, std::string made_of, PolicyMemory* memory,
                 std::span<const std::byte> kept, const AgentConfig& config, Instant now);
  /// After each cycle.
  void learn(const AgentState& state);
  /// Keeps what is new, whenever it last did.
  void keep(const AgentState& state);

 private:
  [[nodiscard]] static Instant origin(const AgentConfig& config, Instant now);

  Policy* policy_ = nullptr;
  std::string made_of_;
  PolicyMemory* memory_ = nullptr;
  std::uint64_t kept_ = 0;                                    // Policy::learned() of what is kept
  Instant kept_at_ = Instant::min(), next_ = Instant::min();  // by the agent's clock
};

}  // namespace starling
