// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/asking/flock_picture.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "base/hash.h"
#include "launch/jobs/agent_json.h"
#include "launch/jobs/job_dates.h"
#include "launch/jobs/job_table.h"

namespace starling {
namespace {

std::string agent_text_of(AgentId agent) { return "agent-" + std::to_string(agent.value); }

nlohmann::json agent_numbers(const std::vector<AgentId>& agents) {
  nlohmann::json list = nlohmann::json::array();
  for (const AgentId agent : agents) list.push_back(agent.value);
  return list;
}

nlohmann::json server_names(const Topology& topology, const std::vector<ServerId>& servers) {
  nlohmann::json list = nlohmann::json::array();
  for (const ServerId server : servers)
    if (server.value < topology.server_count()) list.push_back(topology.server(server).name);
  return list;
}

nlohmann::json shown_agent(const FlockPicture& picture, const AgentStatus& agent) {
  nlohmann::json shown = agent_json(agent);
  shown["host"] = picture.host_of(agent.agent);
  shown["troubles"] = agent.troubles;
  shown["drained_servers"] = server_names(*picture.topology, agent.drained_servers);
  return shown;
}

}  // namespace

const JobState* FlockPicture::job(JobId id) const {
  const auto found = std::lower_bound(jobs.begin(), jobs.end(), id,
                                      [](const JobState& s, const JobId& i) { return s.job < i; });
  return found == jobs.end() || found->job != id ? nullptr : &*found;
}

std::string FlockPicture::host_of(AgentId agent) const {
  const auto found = hosts.find(agent);
  return agent_text_of(found == hosts.end() ? agent : found->second);
}

std::string picture_date(const FlockPicture& picture) { return date_json(picture.at); }

nlohmann::json job_json(const FlockPicture& picture, const JobState& state, bool whole) {
  const JobTable table{*picture.topology, picture.at};
  nlohmann::json j =
      nlohmann::json::parse(table.json(ListedJob{state, picture.host_of(state.home)}));
  if (!whole) j.erase("log_tail");
  return j;
}

nlohmann::json agents_json(const FlockPicture& picture) {
  nlohmann::json list = nlohmann::json::array();
  for (const AgentStatus& a : picture.agents) list.push_back(shown_agent(picture, a));
  return {{"as_of", picture_date(picture)},
          {"silent", agent_numbers(picture.silent)},
          {"troubles", picture.troubles},
          {"agents", list}};
}

nlohmann::json topology_json(const FlockPicture& picture) {
  const Topology& topology = *picture.topology;
  nlohmann::json types = nlohmann::json::array(), subtrees = types, servers = types;
  for (const GpuType& type : topology.gpu_types())
    types.push_back({{"name", type.name}, {"memory_gib", type.memory_gib}});
  for (const Subtree& s : topology.subtrees()) {
    subtrees.push_back({{"level", name_of(s.level)},
                        {"name", s.name},
                        {"parent", s.parent},
                        {"first_server", s.servers.first},
                        {"end_server", s.servers.last}});
  }
  for (std::uint32_t n = 0; n < topology.server_count(); ++n) {
    const Server& s = topology.server(ServerId{n});
    servers.push_back(
        {{"name", s.name},
         {"agent", picture.owners[n].value},
         {"first_gpu", s.gpus.first},
         {"gpus", s.gpus.size()},
         {"gpus_per_island", s.gpus_per_island},
         {"gpu_type", s.gpus.size() == 0
                          ? nlohmann::json()
                          : nlohmann::json(topology.gpu_types()[s.gpu_type.value].name)},
         {"cpus", s.cpus},
         {"memory_gib", s.memory_gib},
         {"nic_gbps", s.nic_gbps}});
  }
  return {{"name", topology.name()},
          {"generation", picture.generation},
          {"gpu_types", types},
          {"subtrees", subtrees},
          {"servers", servers}};
}

nlohmann::json servers_json(const FlockPicture& picture) {
  const Topology& topology = *picture.topology;
  std::vector<nlohmann::json> held(topology.server_count(), nlohmann::json::array());
  for (const JobState& s : picture.jobs) {
    if (terminal(s.phase) || s.phase == JobPhase::waiting) continue;
    std::map<ServerId, nlohmann::json> gpus;
    for (const GpuId gpu : s.placement) {
      if (gpu.value < topology.gpu_count()) gpus[topology.server_of(gpu)].push_back(gpu.value);
    }
    for (auto& [server, list] : gpus)
      held[server.value].push_back({{"job", to_string(s.job)}, {"gpus", std::move(list)}});
  }
  std::vector<char> drained(topology.server_count(), 0);
  std::vector<nlohmann::json> bad(topology.server_count(), nlohmann::json::array());
  for (const AgentStatus& a : picture.agents) {
    for (const ServerId server : a.drained_servers)
      if (server.value < drained.size()) drained[server.value] = 1;
    for (const GpuId gpu : a.sick_gpus)
      if (gpu.value < topology.gpu_count()) bad[topology.server_of(gpu).value].push_back(gpu.value);
  }
  nlohmann::json list = nlohmann::json::array();
  for (std::uint32_t n = 0; n < topology.server_count(); ++n) {
    list.push_back({{"server", topology.server(ServerId{n}).name},
                    {"drained", drained[n] != 0},
                    {"bad_gpus", std::move(bad[n])},
                    {"jobs", std::move(held[n])}});
  }
  return {{"as_of", picture_date(picture)},
          {"generation", picture.generation},
          {"silent", agent_numbers(picture.silent)},
          {"servers", list}};
}

std::uint64_t job_signature(const JobState& state) {
  TraceHash hash;
  hash.add(static_cast<std::uint64_t>(state.phase));
  hash.add(std::uint64_t{state.home.value});
  hash.add(std::uint64_t{state.attempts});
  for (const GpuId gpu : state.placement) hash.add(std::uint64_t{gpu.value});
  return hash.value();
}

}  // namespace starling
