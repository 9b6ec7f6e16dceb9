// SPDX-License-Identifier: Apache-2.0
#include "agents/step/owner_state.h"

#include <algorithm>

#include "base/check.h"
#include "topology/shape.h"

namespace starling {
namespace {

const Partition& partition_in(const AgentConfig& config) {
  STARLING_CHECK(config.me.value < config.flock.size());
  STARLING_CHECK(config.flock[config.me.value].agent == config.me);
  return config.flock[config.me.value].partition;
}

}  // namespace

OwnerState::OwnerState(const AgentConfig& config, const Topology& topology, std::uint32_t room)
    : partition(partition_in(config)), ledger(topology, partition.servers, config.limits, room) {
  server_gpus = shape_of(ledger.gpus()).server;
  executor_of.assign(partition.servers.size(), 0);
  std::uint32_t server = partition.servers.first;
  for (const ExecutorServers& one : config.executors) {
    STARLING_CHECK(one.servers.first == server && one.servers.size() > 0);
    for (; server < one.servers.last; ++server) {
      executor_of[server - partition.servers.first] = static_cast<std::uint32_t>(executors.size());
    }
    OwnedExecutor state;
    state.node = one.node;
    state.servers = one.servers;
    executor_index.emplace(one.node, static_cast<std::uint32_t>(executors.size()));
    executors.push_back(std::move(state));
  }
  STARLING_CHECK(server == partition.servers.last);
}

bool OwnerState::reconciling() const noexcept {
  return !std::all_of(executors.begin(), executors.end(),
                      [](const OwnedExecutor& s) { return s.trusted; });
}

bool OwnerState::all_answered() const noexcept {
  return std::all_of(executors.begin(), executors.end(),
                     [](const OwnedExecutor& s) { return s.ever_answered; });
}

bool OwnerState::kept_for_another(JobId job, const Placement& gpus, Instant now) const {
  return claim && claim->until > now && claim->attempt.job != job &&
         claim->kept.any_of(gpus, ledger.gpus().topology());
}

const Occupancy& OwnerState::open_to(std::optional<JobId> job, Instant now) {
  if (!claim || claim->until <= now || claim->attempt.job == job) return ledger.gpus();
  return claim->kept.rest_of(ledger.gpus());
}

void OwnerState::set_lapse(AttemptId attempt, Instant when) {
  const auto at = lapse_at.try_emplace(attempt, kNever).first;
  lapses.move(attempt, at->second, when);
  if (when == kNever) lapse_at.erase(at);
}

void OwnerState::drop_share(AttemptId attempt) {
  const auto at = shares.find(attempt);
  if (at == shares.end()) return;
  set_timer(attempt, at->second, kNever);
  shares.erase(at);
}

std::vector<TaskGroup> OwnerState::task_groups_of(const Topology& topology, const Placement& gpus,
                                                  TaskGroup::State state) const {
  std::vector<TaskGroup> task_groups;
  for (const GpuId gpu : gpus) {
    const std::uint32_t server = topology.server_of(gpu).value - partition.servers.first;
    const std::uint32_t executor = executor_of[server];
    if (task_groups.empty() || task_groups.back().executor != executor) {
      task_groups.emplace_back();
      task_groups.back().executor = executor;
      task_groups.back().state = state;
    }
    task_groups.back().gpus.push_back(gpu);
  }
  return task_groups;
}

}  // namespace starling
