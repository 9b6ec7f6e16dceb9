// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/slurm/slurm_nodes.h"

#include <set>

#include "launch/commands/slurm/slurm_jobs.h"
#include "launch/commands/slurm/slurm_options.h"

namespace starling {

std::optional<std::vector<SlurmNode>> slurm_nodes(const char* command, FlockClient& flock) {
  const auto agents = flock.agents_found();
  if (!agents) return slurm_error(command, agents.error().message), std::nullopt;
  const auto jobs = slurm_jobs(command, flock, {});
  if (!jobs) return std::nullopt;
  const Topology& topology = flock.topology();
  std::set<std::uint32_t> drained, silent;
  std::set<GpuId> sick, used;
  for (const AgentStatus& status : agents.value().agents) {
    for (const ServerId server : status.drained_servers) drained.insert(server.value);
    sick.insert(status.sick_gpus.begin(), status.sick_gpus.end());
  }
  for (const AgentId agent : agents.value().silent) silent.insert(agent.value);
  for (const JobState& state : *jobs) {
    if (terminal(state.phase) || state.phase == JobPhase::waiting) continue;
    used.insert(state.placement.begin(), state.placement.end());
  }
  std::vector<SlurmNode> nodes;
  for (std::uint32_t i = 0; i < topology.server_count(); ++i) {
    const Server& server = topology.server(ServerId{i});
    SlurmNode node;
    node.name = server.name;
    node.gpus = server.gpus.size();
    node.cpus = server.cpus, node.memory_gib = server.memory_gib;
    if (node.gpus > 0) node.gpu_type = topology.gpu_types()[server.gpu_type.value].name;
    std::uint32_t bad = 0;
    for (std::uint32_t gpu = server.gpus.first; gpu < server.gpus.last; ++gpu) {
      node.used += used.contains(GpuId{gpu}) ? 1U : 0U;
      bad += sick.contains(GpuId{gpu}) ? 1U : 0U;
    }
    node.drained = drained.contains(i);
    const auto is = [&](const char* state, const char* shortly) {
      node.state = state, node.shortly = shortly;
    };
    if (silent.contains(flock.owner_of(ServerId{i}).value)) {
      is("unknown", "unk");
    } else if (node.drained) {
      node.used > 0 ? is("draining", "drng") : is("drained", "drain");
    } else if (bad > 0 && bad == node.gpus) {
      is("down", "down");
    } else if (node.used == 0) {
      is("idle", "idle");
    } else {
      node.used < node.gpus ? is("mixed", "mix") : is("allocated", "alloc");
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace starling
