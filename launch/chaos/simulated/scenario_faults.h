// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bus/wire/codec.h"
#include "launch/chaos/scenario/plan.h"
#include "launch/chaos/scenario/scenario.h"
#include "launch/chaos/simulated/simulated_load.h"
#include "sim/chaos/fault_script.h"

namespace starling::chaos_live {

/// The faults of a scenario for real flocks, in a simulated one: the plan that a live run has
/// (plan_of), each fault by its counterpart (counterparts.h), what "any" hits drawn when it
/// happens. What has no counterpart is left out. With state etcd other hosts take over the
/// partition of an agent that has been dead, frozen or cut off for its lease. Outlives the world.
class ScenarioFaults final : public FaultScript {
 public:
  ScenarioFaults(const ChaosScenario& scenario, std::uint32_t executors_each, SimulatedLoad& load);

  /// Schedules everything, and the healing at the scenario's end.
  void plan(World& world);
  [[nodiscard]] bool healed() const noexcept override { return healed_; }
  [[nodiscard]] const ChaosKnobs& knobs() const noexcept override { return knobs_; }
  [[nodiscard]] const std::set<ServerId>& servers_gone() const noexcept override {
    return servers_gone_;
  }
  [[nodiscard]] FaultCounts counts(World& world) const override;
  [[nodiscard]] std::vector<std::string> active() const override;
  /// What `expect` counts and did not happen often enough, in words; empty: nothing. What was left
  /// out of the plan counts as if it had happened.
  [[nodiscard]] std::string unmet() const;

 private:
  using Nodes = std::vector<NodeId>;
  using Undo = std::function<void(World&)>;
  /// What happens to frames between the first and the second, or all others.
  struct Noise {
    Nodes first, second;
    Direction direction = Direction::both;
    double corrupt = 0, loss = 0, duplicate = 0, reorder = 0;
    [[nodiscard]] bool meets(NodeId from, NodeId to) const;
  };

  void inject(World& world, const PlannedFault& planned);
  [[nodiscard]] Nodes resolve(World& world, const FaultTarget& target, bool up, Rng& rng) const;
  [[nodiscard]] bool is_up(const World& world, NodeId node) const;
  [[nodiscard]] std::uint32_t home_of_a_job(const World& world) const;
  [[nodiscard]] std::uint32_t busy_executor(World& world) const;
  void begin(World& world, const FaultSpec& spec, const PlannedFault& planned, const Nodes& first,
             const Nodes& second, Rng& rng);
  /// Undone after so long, or when all is healed.
  void later(World& world, double after_s, Undo undo);
  void heal(World& world);

  // scenario_faults_process.cpp
  void kill(World& world, NodeId node, double down_s);
  void freeze(World& world, NodeId node, double lasts_s);
  void change_version(World& world, NodeId node, double lasts_s);
  void lose(World& world, NodeId node);
  void bring_back(World& world, NodeId node);
  void bring_back_in(World& world, NodeId node, double wait_s);
  void may_be_taken_over(World& world, AgentId agent, double away_s);
  /// Nothing keeps the agent from renewing its lease any more, unless something else does.
  void renews_again(World& world, NodeId node);
  void take_over(World& world, AgentId agent, double lasts_s);
  // scenario_faults_network.cpp
  void cut(World& world, const FaultSpec& spec, const Nodes& first, const Nodes& second,
           double lasts_s);
  void cut_link(World& world, NodeId from, NodeId to, double lasts_s);
  void cut_region(World& world, const Nodes& nodes, double lasts_s);
  void part_from_authority(World& world, AgentId agent, double lasts_s);
  void swizzle(World& world, NodeId node, double lasts_s, Rng& rng);
  void delay(World& world, const FaultSpec& spec, double lasts_s);
  void close(World& world, const Nodes& nodes, double per_s, double lasts_s, Rng& rng);
  void disturb(World& world, Noise noise, double lasts_s);
  [[nodiscard]] Network::Tampered tamper(NodeId from, NodeId to, std::vector<std::byte>& frame);
  // scenario_faults_machine.cpp
  void machine(World& world, const FaultSpec& spec, NodeId node, double lasts_s, Rng& rng);
  void disk(World& world, const FaultSpec& spec, NodeId node, double lasts_s);

  [[nodiscard]] bool etcd() const { return scenario_.flock.state == "etcd"; }
  [[nodiscard]] bool is_agent(NodeId node) const { return node.value <= agents_; }
  [[nodiscard]] static AgentId agent_of(NodeId node) { return AgentId{node.value - 1}; }
  [[nodiscard]] static std::uint32_t executor_of(NodeId node) {
    return node.value - kFirstExecutor;
  }

  const ChaosScenario& scenario_;
  SimulatedLoad& load_;
  std::uint32_t agents_, executors_each_;
  ChaosKnobs knobs_;
  Rng rng_;
  Nodes nodes_;  // agents, executors
  std::set<NodeId> down_;
  std::map<NodeId, std::uint32_t> frozen_;        // how often at once
  std::map<NodeId, std::uint32_t> no_authority_;  // agents: the same
  std::map<std::pair<Place, Place>, std::uint32_t> cuts_;
  std::uint32_t regions_ = 0;
  std::map<std::uint32_t, Undo> lasting_;
  std::uint32_t faults_ = 0, next_lasting_ = 0;
  std::map<std::uint32_t, Noise> noises_;
  NetworkModel network_ = NetworkModel::lan();
  std::set<ServerId> servers_gone_;
  std::set<NodeId> gone_, aged_;  // lost for good; that may speak an old protocol
  std::set<ServerId> drained_;
  Codec codec_;
  FaultCounts counts_;
  std::uint32_t kills_ = 0, takeovers_ = 0;
  std::uint32_t left_out_ = 0, kills_left_out_ = 0;  // of the plan: `expect` counts them as well
  bool healed_ = false;
};

}  // namespace starling::chaos_live
