// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "agents/agent/agent.h"
#include "agents/step/state.h"
#include "interference/models.h"
#include "policies/registry.h"
#include "topology/generate/generate.h"
#include "topology/partition.h"

namespace starling {

/// For tests: agent 0 as an owner of GPUs 0-3, or agent 1 of 4-7; the home is agent 1, executors
/// answer as they are told.
struct ScriptedOwner {
  struct Options {
    bool reconciled = true;       ///< all executors have answered, with nothing running
    std::uint32_t executors = 1;  ///< with a server each, on which the four GPUs are spread
    bool lossy = false;           ///< heartbeats as real ones
    std::uint32_t partition = 0;
    std::vector<Record> journal = {};  ///< of an earlier life
    Instant begins = {};
  };
  static constexpr NodeId kHome{2};
  static constexpr NodeId kExecutor{kFirstExecutor};
  static constexpr Fence kFence{PartitionId{0}, Epoch{4}};

  ScriptedOwner() : ScriptedOwner(Options{}) {}
  explicit ScriptedOwner(const Options& options)
      : topology(make(options.executors)), now(options.begins) {
    AgentConfig config;
    const std::vector<Partition> parts = partition(topology, 2).value();
    for (const Partition& part : parts) {
      config.flock.push_back({AgentId{part.id.value}, part});
    }
    if (!options.lossy) config.timers.heartbeat = config.timers.digest = Duration::max();
    config.me = AgentId{options.partition};
    config.epoch = Epoch{4};
    const std::uint32_t first = options.partition * options.executors;
    for (std::uint32_t e = 0; e < options.executors; ++e)
      config.executors.push_back({executor_node(e), {first + e, first + e + 1}});
    agent = std::make_unique<Agent>(config, topology, *speed,
                                    make_policy_registry().make("fifo").value(), Rng(1),
                                    options.journal);
    pass(Duration{0});
    if (!options.reconciled) return;
    for (std::uint32_t e = 0; e < options.executors; ++e)
      hear(executor_node(e), Inventory{agent->state().fence(), {}});
  }
  static Topology make(std::uint32_t executors) {
    return generate_flat({.servers = 2 * executors, .gpus_per_server = 4 / executors}).value();
  }
  /// What it does then is in `out`, and the cycle that follows.
  const Output& hear(NodeId from, Message message, std::uint16_t protocol = kNewestProtocol) {
    out.clear();
    agent->step(now, Received{from, std::move(message), protocol}, out);
    return cycle();
  }
  const Output& pass(Duration time) {
    now += time;
    out.clear();
    return cycle();
  }
  /// In `out`, the first of its kind; null: there is none.
  template <class T>
  [[nodiscard]] const T* said() const {
    for (const Send& send : out.send) {
      if (const auto* m = std::get_if<T>(&send.message)) return m;
    }
    return nullptr;
  }
  template <class T>
  [[nodiscard]] bool wrote() const {
    for (const Record& record : out.persist) {
      if (std::holds_alternative<T>(record)) return true;
    }
    return false;
  }
  [[nodiscard]] const Ledger& ledger() const { return agent->state().owner.ledger; }
  [[nodiscard]] const OwnedShare& share() const { return agent->state().owner.shares.at(attempt); }

  const AttemptId attempt{JobId{0, 7}, Epoch{1}, (1ULL << 32U) | 1};
  const Placement gpus{GpuId{0}, GpuId{1}};
  /// Of the attempt on `gpus` here and one at its home.
  [[nodiscard]] Commit commit() const { return commit(gpus); }
  [[nodiscard]] Commit commit(const Placement& here) const {
    Commit c{
        attempt, kFence, {}, {{PartitionId{0}, here}, {PartitionId{1}, {GpuId{4}}}}, Duration{0}};
    c.spec.id = attempt.job;
    c.spec.workers = static_cast<std::uint32_t>(here.size()) + 1;
    return c;
  }
  /// Reserved, committed and told to start, on `here`.
  void start(const Placement& here) {
    hear(kHome, Reserve{attempt, kFence, here, 5000});
    hear(kHome, commit(here));
    hear(kHome, StartAttempt{attempt, kFence});
  }
  /// What an executor says of it that runs it on `here`.
  [[nodiscard]] InventoryItem item(const Placement& here) const {
    InventoryItem runs;
    runs.attempt = attempt;
    runs.gpus = here;
    return runs;
  }

  Topology topology;
  std::unique_ptr<SpeedModel> speed = make_flat_speed();
  std::unique_ptr<Agent> agent;
  Instant now;
  Output out;
  std::vector<Record> journal;  ///< of this life

 private:
  const Output& cycle() {
    agent->step(now, Tick{}, out);
    journal.insert(journal.end(), out.persist.begin(), out.persist.end());
    return out;
  }
};

}  // namespace starling
