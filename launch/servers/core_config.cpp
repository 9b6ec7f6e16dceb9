// SPDX-License-Identifier: Apache-2.0
#include "launch/servers/core_config.h"

#include <algorithm>
#include <sstream>

#include "launch/deployment/deployment_check.h"
#include "launch/deployment/scaled_clock.h"
#include "launch/hooks/hooks.h"
#include "launch/servers/generations.h"
#include "launch/wiring/wiring.h"

namespace starling {
namespace {

Timers timers_of(const Deployment& deployment) {
  Timers timers = stretched({}, deployment.speedup);
  const char* const shorter = chaos_live::hook(deployment.for_chaos, chaos_live::kTimersVariable);
  std::istringstream in(shorter == nullptr ? "" : shorter);
  std::string name;
  for (double length = 0; in >> name >> length;) {
    const Duration said = from_seconds(length);
    if (said <= Duration::zero()) continue;
    if (name == "orphan") timers.orphan = std::min(said, timers.orphan);
    if (name == "kill_grace") timers.kill_grace = std::min(said, timers.kill_grace);
    if (name == "late") timers.late = std::min(said, timers.late);
  }
  return asking_within_orphan(timers);
}

/// What the owner's ledger and the executors must agree on.
Result<Limits> limits_of(const Deployment& deployment) {
  const auto policy = all_policies().make(deployment.policy);
  if (!policy) return policy.error();
  Limits limits;
  limits.jobs_per_gpu = jobs_per_gpu(policy.value()->facts(), deployment.full_physics());
  return limits;
}

}  // namespace

Result<AgentConfig> agent_config(const Deployment& deployment, const Topology& topology,
                                 AgentId me) {
  auto parts = partitions_of(deployment, topology);
  if (!parts) return parts.error();
  const auto limits = limits_of(deployment);
  if (!limits) return limits.error();
  AgentConfig config;
  config.me = me;
  config.limits = limits.value();
  config.timers = timers_of(deployment);
  config.topology = fingerprint_in(deployment, topology);
  for (const Partition& part : parts.value())
    config.flock.push_back({AgentId{part.id.value}, part});
  for (const DeployedNode* node : deployment.with_role(Role::executor)) {
    if (node->partition.value == me.value) config.executors.push_back({node->id, node->servers});
  }
  std::sort(config.executors.begin(), config.executors.end(),
            [](const auto& a, const auto& b) { return a.servers.first < b.servers.first; });
  return config;
}

Result<ExecutorConfig> executor_config(const Deployment& deployment, const DeployedNode& me) {
  const auto limits = limits_of(deployment);
  if (!limits) return limits.error();
  ExecutorConfig config;
  config.limits = limits.value();
  config.timers = timers_of(deployment);
  config.me = me.id;
  config.partition = me.partition;
  config.owner = AgentId{me.partition.value};
  config.servers = me.servers;
  return config;
}

}  // namespace starling
