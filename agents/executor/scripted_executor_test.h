// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "agents/executor/executor_state.h"
#include "topology/generate/generate.h"

namespace starling {

inline const NodeId kOwner = agent_node(AgentId{0});
inline const NodeId kStranger = agent_node(AgentId{1});

inline Instant at(Duration d) { return Instant(d); }

/// For tests: two servers of four GPUs: 0-3 and 4-7; the data centre has a third one, which is not
/// ours.
struct ScriptedExecutor {
  Topology topology;
  Executor executor;
  ExecutorOutput out;
  std::vector<Record> journal;

  explicit ScriptedExecutor(Duration heartbeat = Duration::max(),
                            std::vector<Record> recovered = {}, std::uint32_t jobs_per_gpu = 1,
                            std::uint32_t tombstones = Limits{}.tombstones)
      : ScriptedExecutor(config(heartbeat, jobs_per_gpu, tombstones), std::move(recovered)) {}
  explicit ScriptedExecutor(const ExecutorConfig& config, std::vector<Record> recovered = {})
      : topology(make_topology()),
        executor(config, topology, recovered),
        journal(std::move(recovered)) {
    step(at(Duration{0}), Tick{});
    step(at(Duration{0}), Received{kOwner, Welcome{{PartitionId{0}, Epoch{5}}, config.topology}});
    out.clear();
  }

  static Topology make_topology() {
    GeneratorOptions options;
    options.servers = 3;
    options.gpus_per_server = 4;
    return generate_flat(options).value();
  }
  static ExecutorConfig config(Duration heartbeat, std::uint32_t jobs_per_gpu = 1,
                               std::uint32_t tombstones = Limits{}.tombstones) {
    ExecutorConfig config;
    config.limits.tombstones = tombstones;
    config.limits.jobs_per_gpu = jobs_per_gpu;
    config.me = executor_node(0);
    config.servers = {0, 2};
    config.timers.heartbeat = heartbeat;
    return config;
  }

  const ExecutorOutput& step(Instant now, const ExecutorEvent& event) {
    out.clear();
    executor.step(now, event, out);
    journal.insert(journal.end(), out.persist.begin(), out.persist.end());
    return out;
  }
  const ExecutorOutput& hear(Message message, Duration now = std::chrono::seconds(1),
                             NodeId from = kOwner) {
    return step(at(now), Received{from, std::move(message)});
  }
  template <class M>
  const M* said() const {
    for (const Send& send : out.send) {
      if (const auto* m = std::get_if<M>(&send.message)) return m;
    }
    return nullptr;
  }
};

inline AttemptId attempt(std::uint64_t job) { return {JobId{0, job}, Epoch{1}, 1}; }

inline Launch launch(std::uint64_t job, std::vector<std::uint32_t> gpus, std::uint64_t epoch = 5) {
  Launch m;
  m.attempt = attempt(job);
  m.fence = {PartitionId{0}, Epoch{epoch}};
  for (const std::uint32_t gpu : gpus) m.here.push_back(GpuId{gpu});
  m.spec.workers = static_cast<std::uint32_t>(gpus.size());
  m.gang = {{PartitionId{0}, m.here}};
  return m;
}
inline Kill kill(std::uint64_t job, std::uint64_t epoch = 5) {
  return {attempt(job), {PartitionId{0}, Epoch{epoch}}};
}
inline Exit ended(std::uint64_t job, std::uint32_t server, int code = 0,
                  Duration served = std::chrono::seconds(7)) {
  return {attempt(job), ServerId{server}, {code, false, {}}, served};
}

}  // namespace starling
