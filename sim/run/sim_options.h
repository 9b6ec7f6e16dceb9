// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agents/config.h"
#include "interference/contention.h"
#include "interference/models/speed_choice.h"
#include "scheduling/policy.h"
#include "sim/run/physics_choice.h"
#include "workload/queue_tree.h"

namespace starling {

class RunRecorder;

/// Delay and faults of the simulated network, per frame.
struct NetworkModel {
  Duration delay{0};                              ///< one way, mean
  double jitter = 0;                              ///< fraction of delay, uniform
  double loss = 0, duplication = 0, reorder = 0;  ///< probabilities
  [[nodiscard]] static NetworkModel ideal() { return {}; }
  [[nodiscard]] static NetworkModel lan();
  /// Loses, repeats and reorders nothing.
  [[nodiscard]] bool is_lossless() const noexcept {
    return loss == 0 && duplication == 0 && reorder == 0;
  }
  /// That, and takes no time.
  [[nodiscard]] bool is_ideal() const noexcept {
    return delay == Duration::zero() && is_lossless();
  }
};

struct DurationKnowledge {
  enum Kind : std::uint8_t { exact, none, noisy } kind = exact;
  double sigma = 0;
};

struct SimOptions {
  std::string policy = "fifo";
  std::uint32_t agents = 1;
  std::uint32_t clients = 1;  ///< that submit the trace, in turn
  std::uint32_t servers_per_executor = 8;
  std::uint64_t seed = 1;
  PhysicsKind physics = PhysicsKind::trace;
  double straggler_sigma = 0;                    ///< of physics full
  std::shared_ptr<const Contention> contention;  ///< of physics full; null: the fitted form
  bool goodput = false;                          ///< of physics full
  NetworkKind links = NetworkKind::even;         ///< of physics full
  SpeedChoice speed;                             ///< what policies ask, where physics is full
  /// A learned speed model is told what runs how fast so often; zero: never.
  Duration observe = std::chrono::minutes(5);
  double measure_noise = 0.03;  ///< of measured speeds: standard deviation of their logarithm
  DurationKnowledge durations;
  /// Of the flock, in force at every agent when it begins: check_queues() has nothing against them
  /// and `version` is above 0. None: nothing is limited.
  std::optional<QueueTree> queues = {};
  NetworkModel network;
  /// As in a flock, where frames may get lost, also where this network loses none: heartbeats,
  /// digests, turns (agents/home/turn.h), and a bound of the jobs that a home takes.
  bool as_in_flock = false;
  bool check = false;  ///< S1 to S9 after every event; a violation is an error
  Timers timers;
  Limits limits;
  std::uint32_t flood_most = AgentConfig{}.flood_most;  ///< as there
  /// Nodes that speak as an earlier version does; all others speak the newest protocol.
  std::map<NodeId, std::uint16_t> protocols = {};
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  ///< called now and then
  RunRecorder* recorder = nullptr;  ///< is told of what happens, and outlives the run; null: none
  /// Nodes say which life they are of and how far their journal is, and remember it of each other,
  /// so that old copies are found out (bus/wire/node.h).
  bool known_lives = false;
  /// Puts something between an agent and its policy; `stall` says that the present decision takes
  /// that long. Empty: nothing.
  std::function<std::unique_ptr<Policy>(AgentId, std::unique_ptr<Policy>,
                                        std::function<void(Duration)> stall)>
      wrap_policy;
};

}  // namespace starling
