// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <utility>

#include "launch/client/flock_client.h"
#include "launch/client/flock_hosts.h"
#include "launch/client/session.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

/// The agents that have not answered, by what was heard.
std::vector<AgentId> silent_of(const std::vector<AgentStatus>& heard, std::uint32_t agents) {
  std::set<AgentId> said;
  for (const AgentStatus& status : heard) said.insert(status.agent);
  std::vector<AgentId> silent;
  for (std::uint32_t a = 0; a < agents; ++a) {
    if (!said.contains(AgentId{a})) silent.push_back(AgentId{a});
  }
  return silent;
}

/// Which host serves each partition now, as far as one answers.
std::map<PartitionId, AgentId> served(const Session& session,
                                      const std::vector<AgentStatus>& heard) {
  std::map<PartitionId, AgentId> hosts;
  for (const AgentStatus& status : heard)
    hosts[status.fence.partition] = session.host_of(status.agent);
  return hosts;
}

struct Members {
  FlockHosts hosts;
  FlockMembers now;
};
Result<Members> read(const Deployment& flock) {
  auto hosts = FlockHosts::open(flock);
  if (!hosts) return hosts.error();
  auto now = hosts.value().read();
  if (!now) return now.error();
  return Members{std::move(hosts).value(), std::move(now).value()};
}

/// Writes that `all` are members now, because `agent` came or left.
Result<MembersChange> write(Members& members, AgentId agent, std::set<AgentId> all,
                            std::uint32_t agents) {
  const auto next = members.hosts.with(members.now, std::move(all));
  if (!next) return Error{Errc::invalid, next.error().message};
  if (const Status s = members.hosts.write(next.value()); !s.ok()) return s.error();
  MembersChange change{agent, {}, {}};
  for (std::uint32_t p = 0; p < agents; ++p) {
    const AgentId from = members.now.host_of(PartitionId{p}),
                  to = next.value().host_of(PartitionId{p});
    change.hosts.push_back(to);
    if (from != to) change.moves.push_back({PartitionId{p}, from, to});
  }
  return change;
}

}  // namespace

Result<AgentsFound> FlockClient::agents_found(Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  AgentsFound found{session_->status(patience), {}};
  if (found.agents.empty()) return {Errc::not_ready, "no agent answers; is the flock up?"};
  found.silent = silent_of(found.agents, agents());
  return found;
}

Result<MembersFound> FlockClient::members(Duration patience) {
  const auto members = read(*deployment_);
  if (!members) return members.error();
  const auto& [hosts, now] = members.value();
  if (Status s = connect(); !s.ok()) return s.error();
  const auto heard = session_->status(patience);
  MembersFound found;
  const std::set<AgentId> all = hosts.all(now);
  for (std::uint32_t a = 0; a < agents(); ++a)
    found.agents.push_back({AgentId{a}, all.contains(AgentId{a}), {}, {}});
  for (std::uint32_t p = 0; p < agents(); ++p) {
    const AgentId host = now.host_of(PartitionId{p});
    if (host.value < agents()) found.agents[host.value].should_serve.push_back(PartitionId{p});
  }
  for (const auto& [partition, host] : served(*session_, heard)) {
    if (host.value < agents()) found.agents[host.value].serves.push_back(partition);
  }
  found.silent = silent_of(heard, agents());
  return found;
}

Result<MembersChange> FlockClient::add_member(std::optional<AgentId> agent) {
  auto members = read(*deployment_);
  if (!members) return members.error();
  std::set<AgentId> all = members.value().hosts.all(members.value().now);
  for (std::uint32_t a = 0; !agent && a < agents(); ++a) {
    if (!all.contains(AgentId{a})) agent = AgentId{a};
  }
  if (!agent) {
    return {Errc::invalid, "all agents are members; a flock made with more --partitions has room"};
  }
  if (agent->value >= agents())
    return {Errc::invalid, "there is no agent " + std::to_string(agent->value)};
  if (all.contains(*agent))
    return {Errc::invalid, "agent-" + std::to_string(agent->value) + " is a member already"};
  all.insert(*agent);
  return write(members.value(), *agent, std::move(all), agents());
}

Result<MembersChange> FlockClient::remove_member(AgentId agent) {
  auto members = read(*deployment_);
  if (!members) return members.error();
  std::set<AgentId> all = members.value().hosts.all(members.value().now);
  const std::string name = "agent-" + std::to_string(agent.value);
  if (!all.contains(agent))
    return {Errc::invalid, name + " is no member; see 'starling members list'"};
  if (all.size() == 1) return {Errc::invalid, name + " is the last member"};
  all.erase(agent);
  return write(members.value(), agent, std::move(all), agents());
}

Result<std::vector<PartitionId>> FlockClient::unserved(const MembersChange& change,
                                                       Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  const Instant until = later(Session::now(), patience);
  for (;;) {
    const auto now = served(*session_, session_->status(std::chrono::milliseconds(500)));
    std::vector<PartitionId> missing;
    for (std::uint32_t p = 0; p < change.hosts.size(); ++p) {
      const auto host = now.find(PartitionId{p});
      if (host == now.end() || host->second != change.hosts[p]) missing.push_back(PartitionId{p});
    }
    if (missing.empty() || Session::now() >= until || stop_requested()) return missing;
    (void)session_->receive(later(Session::now(), std::chrono::milliseconds(50)));
  }
}

}  // namespace starling
