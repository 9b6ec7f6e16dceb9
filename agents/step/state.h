// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "agents/config.h"
#include "agents/output.h"
#include "agents/quota/keeper.h"
#include "agents/step/flock_state.h"
#include "agents/step/home_state.h"
#include "agents/step/owner_state.h"
#include "base/rng.h"
#include "scheduling/policy.h"

namespace starling {

struct Counters {
  std::uint64_t accepted = 0, finished = 0, failed = 0, cancelled = 0;  ///< in all lives
  std::uint64_t forwards = 0;  ///< here and below: in this one
  std::uint64_t cross_partition_gangs = 0, preemptions = 0, resizes = 0;
  std::uint64_t decisions = 0;        ///< of the policy, good or bad
  std::uint64_t wrong_decisions = 0;  ///< of those, ignored because the ledger or the jobs disagree
  std::uint64_t refused_frames = 0, messages = 0, failed_rounds = 0;
};

/// When the policy is asked, and how long it took.
struct DecisionState {
  bool due = false;      ///< something changed since the last decision
  bool decided = false;  ///< the last Tick asked the policy
  TriggerKind trigger = TriggerKind::round;
  Instant next = kNever;                   ///< ask again, whatever has changed
  Instant again = kNever;                  ///< the same, as the policy wants it
  std::array<std::uint64_t, 256> times{};  ///< by quarter octave of nanoseconds
};

/// GPUs of one type in the whole data centre.
struct Supply {
  std::uint64_t gpus = 0;
  std::uint32_t largest_server = 0;
};

/// Everything an Agent knows, by its roles. The checker, the stories and the tests look at it; only
/// Agent changes it.
struct AgentState {
  /// `room`: as of Ledger.
  AgentState(AgentConfig agent_config, const Topology& data_center, const SpeedModel& speed_model,
             std::shared_ptr<Policy> chosen_policy, Rng agent_rng, std::uint32_t room = 0);

  AgentConfig config;
  const Topology& topology;
  const SpeedModel& speed;
  std::shared_ptr<Policy> policy;  ///< shared by clones
  Rng rng;                         ///< jitter
  Rng policy_rng;                  ///< handed to the policy
  std::vector<Supply> supply;      ///< by GpuTypeId

  HomeState home;
  OwnerState owner;
  FlockState flock;
  std::optional<QuotaKeeper> keeper;  ///< of queues; the agent of partition 0 has one
  DecisionState deciding;

  bool begun = false;
  Instant now;  ///< of the last step
  Instant beat = kNever;
  /// Until then nothing is decided before all peers and executors have answered (AgentConfig).
  Instant roll_call = Instant::min();
  std::vector<Message> loop;  ///< what this agent says to itself
  Counters counters;

  /// A node that may know that this state is an old copy has not answered yet.
  [[nodiscard]] bool calling_roll() const noexcept;
  [[nodiscard]] Fence fence() const noexcept { return {owner.partition.id, config.epoch}; }
  [[nodiscard]] bool lossy() const noexcept { return config.timers.heartbeat < Duration::max(); }
  [[nodiscard]] bool remote_home(const OwnedShare& share) const noexcept {
    return !share.home_known || share.home != config.me;
  }
  /// By this life's calendar, which there has to be.
  [[nodiscard]] Duration date_of(Instant at) const;
  [[nodiscard]] JobPast past_of(const Job& job) const;
  [[nodiscard]] JobStanding standing_of(const Job& job) const;
  void count_ended(JobPhase phase);
  /// Applies one record of an earlier life.
  void replay(const Record& record);
};

}  // namespace starling
