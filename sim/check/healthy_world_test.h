// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "sim/check/checker.h"

namespace starling {

inline constexpr Instant kNow{std::chrono::seconds(3)};
inline constexpr JobId kJob{0, 7};
inline constexpr AttemptId kOne{kJob, Epoch{1}, 1};
inline constexpr AttemptId kTwo{kJob, Epoch{1}, 2};
inline constexpr AttemptId kOther{{0, 8}, Epoch{1}, 1};
inline const NodeId kA = agent_node(AgentId{0});
inline const NodeId kB = agent_node(AgentId{1});

inline std::vector<PeerAgent> two_partitions() {
  return {{AgentId{0}, {PartitionId{0}, {0, 1}, {0, 4}}},
          {AgentId{1}, {PartitionId{1}, {1, 2}, {4, 8}}}};
}
inline Placement gpus(std::initializer_list<std::uint32_t> ids) {
  Placement all;
  for (const std::uint32_t i : ids) all.push_back(GpuId{i});
  return all;
}

/// One to four workers.
inline JobSpec spec_of(JobId job) {
  JobSpec spec;
  spec.id = job;
  spec.workers = 2;
  spec.min_workers = 1;
  spec.max_workers = 4;
  return spec;
}

/// For tests: a gang of both partitions, decided, committed, held and running.
struct HealthyWorld {
  explicit HealthyWorld(std::uint32_t jobs_per_gpu = 1) : checker(two_partitions(), jobs_per_gpu) {
    const std::vector<Share> gang = {{PartitionId{0}, gpus({3})}, {PartitionId{1}, gpus({4})}};
    write(kA, LifeBegan{Incarnation{1}, Epoch{1}});
    write(kB, LifeBegan{Incarnation{1}, Epoch{1}});
    JobAccepted accepted;
    accepted.submit.spec = spec_of(kJob);
    write(kA, accepted);
    write(kA, AttemptStarting{kOne, gang});
    commit(kA, kOne, gang);
    commit(kB, kOne, gang);
    world.processes = {{kOne, gpus({3})}, {kOne, gpus({4})}};
    world.ledgers = {ledger(0, kA, gpus({0, 1, 2}), {{kOne, gpus({3})}}),
                     ledger(1, kB, gpus({5, 6, 7}), {{kOne, gpus({4})}})};
    for (const std::uint32_t p : {0U, 1U}) answers(p, Epoch{1});
  }
  /// Its executor has said what runs there.
  void answers(std::uint32_t partition, Epoch epoch) {
    checker.arrived(kNow, executor_node(partition), agent_node(AgentId{partition}),
                    Inventory{{PartitionId{partition}, epoch}, {}});
  }
  static LedgerView ledger(std::uint32_t partition, NodeId owner, Placement free,
                           std::vector<std::pair<AttemptId, Placement>> holds) {
    LedgerView view;
    view.partition = PartitionId{partition};
    view.owner = owner;
    view.gpus = {4 * partition, 4 * partition + 4};
    view.holds = std::move(holds);
    view.executors = {{executor_node(partition), view.gpus, true}};
    view.counted.free = view.told.free = static_cast<std::uint32_t>(free.size());
    view.free = std::move(free);
    return view;
  }
  /// So many fewer are free, and all figures say so.
  void take(std::uint32_t partition, AttemptId attempt, const Placement& gpus) {
    LedgerView& view = world.ledgers[partition];
    view.holds.emplace_back(attempt, gpus);
    std::erase_if(view.free,
                  [&](GpuId g) { return std::find(gpus.begin(), gpus.end(), g) != gpus.end(); });
    view.counted.free = view.told.free = static_cast<std::uint32_t>(view.free.size());
  }
  void accept(NodeId home, JobId job) {
    JobAccepted accepted;
    accepted.submit.spec = spec_of(job);
    write(home, accepted);
  }
  void commit(NodeId owner, AttemptId attempt, std::vector<Share> gang) {
    Commit commit;
    commit.attempt = attempt;
    commit.gang = std::move(gang);
    write(owner, ShareCommitted{attempt, AgentId{0}, commit});
  }
  void write(NodeId node, const Record& record) { checker.wrote(kNow, node, {&record, 1}); }
  bool caught(const std::string& rule) {
    checker.look(kNow, world);
    const auto& v = checker.violation();
    return v && v->rfind(rule + " is violated at 3.000000000 s", 0) == 0;
  }
  Checker checker;
  WorldView world;
};

inline Submit submit_of(JobId job) {
  Submit submit;
  submit.spec = spec_of(job);
  return submit;
}
inline JobState state_of(JobId job, JobPhase phase) {
  JobState state;
  state.job = job;
  state.phase = phase;
  return state;
}

}  // namespace starling
