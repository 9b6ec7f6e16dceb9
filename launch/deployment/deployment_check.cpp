// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/deployment_check.h"

#include <algorithm>
#include <set>

#include "agents/config.h"
#include "bus/wire/roles.h"
#include "launch/deployment/scaled_clock.h"
#include "topology/fingerprint.h"
#include "topology/partition.h"

namespace starling {
namespace {

constexpr std::size_t kLongestName = 64;

bool is_name(const std::string& name) {
  const auto allowed = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), allowed);
}

std::string servers_text(IndexRange servers) {
  if (servers.size() == 1) return "server " + std::to_string(servers.first);
  return "servers " + std::to_string(servers.first) + " to " + std::to_string(servers.last - 1);
}

Status wrong(const DeployedNode& node, const std::string& what) {
  return {Errc::invalid, "node '" + node.name + "': " + what};
}

}  // namespace

Status check_deployment(const Deployment& flock) {
  if (flock.topology.empty()) return {Errc::invalid, "topology: names no file"};
  if (flock.physics != "trace" && flock.physics != "full" && !flock.goodput())
    return {Errc::invalid,
            "physics: '" + flock.physics + "' is wrong; it is trace, full or full:goodput"};
  if (flock.launcher != "process" && flock.launcher != "emulated")
    return {Errc::invalid,
            "launcher: '" + flock.launcher + "' is wrong; it is process or emulated"};
  if (flock.launcher == "process" && flock.speedup != 1)
    return {Errc::invalid, "speedup: only emulated jobs can be sped up; it is 1 with processes"};
  if (flock.generation == 0) return {Errc::invalid, "generation: begins with 1"};
  if ((flock.generation == 1) != (flock.fingerprint == 0))
    return {Errc::invalid, "fingerprint: is said from generation 2 on, and then never 0"};
  std::set<std::string> names;
  std::set<NodeId> ids;
  const std::uint32_t agents = flock.agents();
  if (agents == 0) return {Errc::invalid, "nodes: no agent is among them"};
  for (const DeployedNode& node : flock.nodes) {
    if (!is_name(node.name)) {
      return {Errc::invalid, "nodes: '" + node.name.substr(0, kLongestName) +
                                 "' cannot be a name; there are letters, digits, - _ . in one"};
    }
    if (!names.insert(node.name).second) return wrong(node, "name: another node has it, too");
    if (node.role == Role::unknown) return wrong(node, "role: must be agent, executor or client");
    if (role_of(node.id) != node.role)
      return wrong(node, "id: " + std::to_string(node.id.value) + " is no " + name_of(node.role) +
                             "'s number");
    if (!ids.insert(node.id).second) return wrong(node, "id: another node has it, too");
    if (node.role == Role::client) continue;
    if (node.partition.value >= agents) {
      return wrong(node, "partition: " + std::to_string(node.partition.value) +
                             " is not one of 0 to " + std::to_string(agents - 1) +
                             ", one for each agent");
    }
    if (node.role == Role::agent && node.id != agent_node(AgentId{node.partition.value}))
      return wrong(node, "partition: its number says that it should be " +
                             std::to_string(node.id.value - agent_node(AgentId{0}).value));
    if (node.role == Role::executor && node.servers.first >= node.servers.last)
      return wrong(node, "servers: [FIRST, LAST + 1] must have FIRST below the other");
  }
  return done();
}

Result<std::vector<Partition>> partitions_of(const Deployment& flock, const Topology& topology) {
  if (flock.generation == 1) return partition(topology, flock.agents());
  std::vector<Partition> parts(flock.agents());
  for (std::uint32_t p = 0; p < parts.size(); ++p) parts[p].id = PartitionId{p};
  for (const DeployedNode* node : flock.with_role(Role::executor)) {
    Partition& part = parts.at(node->partition.value);
    if (node->servers.last > topology.server_count())
      return {Errc::invalid, node->name + " serves " + servers_text(node->servers) + ", and " +
                                 flock.topology + " has " +
                                 std::to_string(topology.server_count())};
    const bool first = part.servers.size() == 0;
    part.servers.first =
        first ? node->servers.first : std::min(part.servers.first, node->servers.first);
    part.servers.last = std::max(part.servers.last, node->servers.last);
  }
  std::uint32_t next = 0;
  for (Partition& part : parts) {
    if (part.servers.first != next || part.servers.size() == 0)
      return {Errc::invalid, "partition " + std::to_string(part.id.value) +
                                 " does not begin with server " + std::to_string(next)};
    next = part.servers.last;
    part.gpus = {topology.server(ServerId{part.servers.first}).gpus.first,
                 topology.server(ServerId{part.servers.last - 1}).gpus.last};
  }
  if (next != topology.server_count())
    return {Errc::invalid, "no executor has server " + std::to_string(next)};
  return parts;
}

Status fits_topology(const Deployment& flock, const Topology& topology) {
  const std::string cure =
      "; the flock was made for another data centre: give it back the topology that it was made "
      "with, or make a new flock in an empty folder";
  if (flock.fingerprint != 0 && flock.fingerprint != fingerprint_of(topology)) {
    return {Errc::invalid,
            flock.topology + " is not what the flock's servers were changed to" + cure};
  }
  const auto parts = partitions_of(flock, topology);
  if (!parts) return {Errc::invalid, parts.error().message + cure};
  for (const Partition& part : parts.value()) {
    std::vector<const DeployedNode*> executors;
    for (const DeployedNode* node : flock.with_role(Role::executor)) {
      if (node->partition == part.id) executors.push_back(node);
    }
    std::sort(executors.begin(), executors.end(), [](const DeployedNode* a, const DeployedNode* b) {
      return a->servers.first < b->servers.first;
    });
    const std::string here = "partition " + std::to_string(part.id.value) + " of " +
                             flock.topology + " has " + servers_text(part.servers);
    std::uint32_t next = part.servers.first;
    for (const DeployedNode* node : executors) {
      if (node->servers.first != next || node->servers.last > part.servers.last) {
        return {Errc::invalid,
                node->name + " serves " + servers_text(node->servers) + ", and " + here + cure};
      }
      next = node->servers.last;
    }
    if (next != part.servers.last) {
      return {Errc::invalid,
              "no executor serves server " + std::to_string(next) + ", and " + here + cure};
    }
  }
  return done();
}

}  // namespace starling
