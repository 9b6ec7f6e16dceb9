#include "launch/deployment_plan.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "bus/flock.h"
#include "bus/keys.h"
#include "launch/files.h"
#include "launch/partition_state.h"
#include "topology/load.h"
#include "topology/partition.h"

namespace starling {
namespace {

constexpr std::uint16_t kFirstPort = 20'000, kLastPort = 32'000;

bool is_free(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return free;
}

/// Its folder, configuration and new keys; the public key ends up in `member`.
Status make_node(const Deployment& deployment, const DeployedNode& node, Member& member) {
  const auto dir = deployment.node_dir(node.name);
  if (auto s = make_folder(dir, 0700); !s.ok()) return s;
  auto keys = generate_keys();
  if (!keys) return keys.error();
  member.public_key = keys.value().public_key;
  if (auto s = write_key_file(dir / "keys.json", keys.value()); !s.ok()) return s;
  return write_node_file(dir / "config.json", {"../..", node.name, "state", "keys.json"});
}

/// A further place for `node`, at agent `host`, which alone has its secret key.
Result<Seat> make_seat(const Deployment& deployment, const DeployedNode& node, AgentId host,
                       std::uint16_t port) {
  const auto dir = deployment.node_dir("agent-" + std::to_string(host.value)) / "seats";
  if (auto s = make_folder(dir, 0700); !s.ok()) return s.error();
  auto keys = generate_keys();
  if (!keys) return keys.error();
  if (auto s = write_key_file(dir / (node.name + ".json"), keys.value()); !s.ok()) return s.error();
  return Seat{"tcp://127.0.0.1:" + std::to_string(port), keys.value().public_key};
}

}  // namespace

Result<std::vector<std::uint16_t>> free_ports(std::size_t count) {
  std::vector<std::uint16_t> ports;
  const int span = kLastPort - kFirstPort;
  // Runs that start together begin at different places.
  const int begin = static_cast<int>((static_cast<std::uint32_t>(getpid()) * 2'654'435'761U) %
                                     static_cast<std::uint32_t>(span));
  for (int i = 0; i < span && ports.size() < count; ++i) {
    const auto port = static_cast<std::uint16_t>(kFirstPort + (begin + i) % span);
    if (is_free(port)) ports.push_back(port);
  }
  if (ports.size() < count)
    return {Errc::io, "no " + std::to_string(count) + " free TCP ports on 127.0.0.1"};
  return ports;
}

Result<std::vector<DeployedNode>> executor_nodes(const Topology& topology, std::uint32_t agents,
                                                 std::uint32_t servers_per_executor) {
  auto parts = partition(topology, agents);
  if (!parts) return parts.error();
  std::vector<DeployedNode> nodes;
  for (const Partition& part : parts.value()) {
    for (std::uint32_t first = part.servers.first; first < part.servers.last;
         first += servers_per_executor) {
      DeployedNode node;
      const auto number = static_cast<std::uint32_t>(nodes.size());
      node.id = executor_node(number);
      node.name = "executor-" + std::to_string(number);
      node.role = Role::executor;
      node.partition = part.id;
      node.servers = {first, std::min(first + servers_per_executor, part.servers.last)};
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

Result<Deployment> create_deployment(const DeploymentPlan& plan, const Topology& topology) {
  Deployment made;
  made.dir = plan.dir;
  made.policy = plan.policy;
  made.physics = plan.physics;
  made.launcher = plan.launcher;
  made.speedup = plan.speedup;
  made.seed = plan.seed;
  auto state = new_flock_state(plan.state);
  if (!state) return {state.error().code, "--state: " + state.error().message};
  made.state = std::move(state).value();
  for (std::uint32_t i = 0; i < plan.agents; ++i) {
    DeployedNode node;
    node.id = agent_node(AgentId{i});
    node.name = "agent-" + std::to_string(i);
    node.role = Role::agent;
    node.partition = PartitionId{i};
    made.nodes.push_back(std::move(node));
  }
  auto executors = executor_nodes(topology, plan.agents, plan.servers_per_executor);
  if (!executors) return executors.error();
  for (DeployedNode& node : executors.value()) made.nodes.push_back(std::move(node));
  for (std::uint32_t i = 0; i < plan.clients; ++i) {
    DeployedNode node;
    node.id = client_node(i);
    node.name = "client-" + std::to_string(i);
    node.role = Role::client;
    made.nodes.push_back(std::move(node));
  }

  if (auto s = make_folder(plan.dir); !s.ok()) return s.error();
  if (auto s = save_topology(topology, (plan.dir / made.topology).string()); !s.ok())
    return s.error();
  const std::uint32_t standbys = made.state.empty() ? 0 : std::min(plan.standbys, plan.agents - 1);
  auto ports = free_ports(made.nodes.size() - plan.clients + std::size_t{standbys} * plan.agents);
  if (!ports) return ports.error();
  Flock members;
  std::size_t port = 0;
  for (const DeployedNode& node : made.nodes) {
    Member& member = members[node.id];
    member.node = node.id;
    member.role = node.role;
    // Clients call and are never called.
    if (node.role != Role::client)
      member.address = "tcp://127.0.0.1:" + std::to_string(ports.value()[port++]);
    if (auto s = make_node(made, node, member); !s.ok()) return s.error();
    for (std::uint32_t i = 1; node.role == Role::agent && i <= standbys; ++i) {
      auto seat = make_seat(made, node, host_of_seat(node.partition, i, plan.agents),
                            ports.value()[port++]);
      if (!seat) return seat.error();
      member.standby.push_back(std::move(seat).value());
    }
  }
  if (auto s = write_flock(made.dir / "flock.json", members); !s.ok()) return s.error();
  if (auto s = write_deployment(made); !s.ok()) return s.error();
  return made;
}

}  // namespace starling
