// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/deployment_plan.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/login_name.h"
#include "bus/flock.h"
#include "bus/keys.h"
#include "launch/deployment/adopted_state.h"
#include "launch/deployment/etcd_state.h"
#include "launch/system/files.h"
#include "topology/file/load.h"
#include "topology/partition.h"

namespace starling {
namespace {

/// While it lives, what is made is not for others to write to, whatever umask its maker has.
class NotWritableByOthers {
 public:
  NotWritableByOthers() : before_(::umask(022)) { ::umask(before_ | 022); }
  ~NotWritableByOthers() { ::umask(before_); }
  NotWritableByOthers(const NotWritableByOthers&) = delete;
  NotWritableByOthers& operator=(const NotWritableByOthers&) = delete;

 private:
  mode_t before_;
};

constexpr std::uint16_t kFirstPort = 20'000, kLastPort = 32'000;

/// 0, or why nothing can listen there.
int listen_error(const in_addr& at, std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr = at;
  const int bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int why = bound == 0 ? 0 : errno;
  close(fd);
  return why;
}

/// A further place for `node`, at agent `host`, which alone has its secret key.
Result<SeatAddress> make_seat(const Deployment& deployment, const DeployedNode& node, AgentId host,
                              const std::string& address) {
  const auto dir = deployment.node_dir("agent-" + std::to_string(host.value)) / "seats";
  if (auto s = make_folder(dir, 0700); !s.ok()) return s.error();
  auto keys = generate_keys();
  if (!keys) return keys.error();
  if (auto s = write_key_file(dir / (node.name + ".json"), keys.value()); !s.ok()) return s.error();
  return SeatAddress{address, keys.value().public_key};
}

/// Agents, executors and clients of the plan, with their hosts.
Result<std::vector<DeployedNode>> nodes_of(const DeploymentPlan& plan, const Topology& topology) {
  std::vector<DeployedNode> nodes;
  const auto node = [](NodeId id, const char* kind, std::uint32_t i, Role role) {
    DeployedNode made;
    made.id = id;
    made.name = kind + std::to_string(i);
    made.role = role;
    return made;
  };
  for (std::uint32_t i = 0; i < plan.agents; ++i) {
    nodes.push_back(node(agent_node(AgentId{i}), "agent-", i, Role::agent));
    nodes.back().partition = PartitionId{i};
    if (!plan.agent_hosts.empty()) nodes.back().host = plan.agent_hosts.at(i);
  }
  auto executors =
      executor_nodes(topology, plan.agents, plan.servers_per_executor, plan.server_hosts);
  if (!executors) return executors.error();
  for (DeployedNode& executor : executors.value()) nodes.push_back(std::move(executor));
  for (std::uint32_t i = 0; i < plan.clients; ++i)
    nodes.push_back(node(client_node(i), "client-", i, Role::client));
  return nodes;
}

/// Hands out the addresses of each host, in order.
class Addresses {
 public:
  static Result<Addresses> take(const DeploymentPlan& plan, const std::vector<DeployedNode>& nodes,
                                std::uint32_t standbys) {
    std::map<std::string, std::size_t> wanted;
    for (const DeployedNode& node : nodes) {
      // Clients call and are never called.
      if (node.role == Role::client) continue;
      ++wanted[node.host];
      for (std::uint32_t i = 1; node.role == Role::agent && i <= standbys; ++i)
        ++wanted[nodes[host_of_seat(node.partition, i, plan.agents).value].host];
    }
    auto book = plan.addresses(wanted);
    if (!book) return book.error();
    return Addresses(std::move(book).value());
  }
  std::string next(const std::string& host) { return book_.at(host).at(used_[host]++); }

 private:
  explicit Addresses(AddressBook book) : book_(std::move(book)) {}
  AddressBook book_;
  std::map<std::string, std::size_t> used_;
};

}  // namespace

Result<Member> make_node(const Deployment& flock, const DeployedNode& node,
                         const std::string& address) {
  const auto dir = flock.node_dir(node.name);
  if (auto s = make_folder(dir, 0700); !s.ok()) return s.error();
  auto keys = generate_keys();
  if (!keys) return keys.error();
  std::error_code ignored;
  std::filesystem::remove(dir / "keys.json", ignored);
  if (auto s = write_key_file(dir / "keys.json", keys.value()); !s.ok()) return s.error();
  if (auto s = write_node_file(dir / "config.json", {"../..", node.name, "state", "keys.json"});
      !s.ok())
    return s.error();
  Member member;
  member.node = node.id;
  member.role = node.role;
  member.address = address;
  member.public_key = keys.value().public_key;
  return member;
}

Result<AddressBook> loopback_addresses(const std::map<std::string, std::size_t>& wanted) {
  std::size_t all = 0;
  for (const auto& [host, count] : wanted) all += count;
  auto ports = free_ports(all);
  if (!ports) return ports.error();
  AddressBook book;
  std::size_t next = 0;
  for (const auto& [host, count] : wanted) {
    for (std::size_t i = 0; i < count; ++i)
      book[host].push_back("tcp://127.0.0.1:" + std::to_string(ports.value()[next++]));
  }
  return book;
}

Result<std::vector<std::uint16_t>> free_ports(std::size_t count, const std::string& address) {
  in_addr at{};
  if (inet_pton(AF_INET, address.c_str(), &at) != 1)
    return {Errc::invalid, "'" + address + "' is not an IPv4 address such as 10.0.0.1"};
  std::vector<std::uint16_t> ports;
  const int span = kLastPort - kFirstPort;
  // Runs that start together begin at different places.
  const int begin = static_cast<int>((static_cast<std::uint32_t>(getpid()) * 2'654'435'761U) %
                                     static_cast<std::uint32_t>(span));
  for (int i = 0; i < span && ports.size() < count; ++i) {
    const auto port = static_cast<std::uint16_t>(kFirstPort + (begin + i) % span);
    const int why = listen_error(at, port);
    if (why == EADDRNOTAVAIL)
      return {Errc::invalid, address + " is not an address of this machine"};
    if (why == 0) ports.push_back(port);
  }
  if (ports.size() < count)
    return {Errc::io, "no " + std::to_string(count) + " free TCP ports on " + address};
  return ports;
}

Result<std::vector<DeployedNode>> executor_nodes(const Topology& topology, std::uint32_t agents,
                                                 std::uint32_t servers_per_executor,
                                                 const std::vector<std::string>& server_hosts) {
  auto parts = partition(topology, agents);
  if (!parts) return parts.error();
  const auto host_of = [&](std::uint32_t server) {
    return server_hosts.empty() ? std::string() : server_hosts.at(server);
  };
  std::vector<DeployedNode> nodes;
  for (const Partition& part : parts.value()) {
    for (std::uint32_t first = part.servers.first; first < part.servers.last;) {
      std::uint32_t last = first + 1;
      while (last < part.servers.last && last - first < servers_per_executor &&
             host_of(last) == host_of(first))
        ++last;
      DeployedNode node;
      const auto number = static_cast<std::uint32_t>(nodes.size());
      node.id = executor_node(number);
      node.name = "executor-" + std::to_string(number);
      node.role = Role::executor;
      node.partition = part.id;
      node.servers = {first, last};
      node.host = host_of(first);
      nodes.push_back(std::move(node));
      first = last;
    }
  }
  return nodes;
}

namespace {

/// "ann, /home/ann/flock on h1"
std::string founder(const DeploymentPlan& plan) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return login_name() + ", " + std::filesystem::absolute(plan.dir).lexically_normal().string() +
         " on " + host;
}

Result<Deployment> create(const DeploymentPlan& plan, const Topology& topology,
                          std::optional<EtcdAddress>& named) {
  Deployment made;
  made.dir = plan.dir;
  made.policy = plan.policy;
  made.physics = plan.physics;
  made.speed = plan.speed;
  made.launcher = plan.launcher;
  made.speedup = plan.speedup;
  made.seed = plan.seed;
  made.for_chaos = plan.for_chaos;
  if (plan.adopt && plan.state.empty())
    return {Errc::invalid, "--adopt goes with --state etcd://HOST:PORT/NAME"};
  if (!plan.state.empty()) {
    auto state = new_etcd_state(plan.state, plan.etcd, {founder(plan), plan.agents, plan.adopt});
    if (!state) return state.error();
    made.state = state.value().url();
    named = std::move(state).value();
  } else if (!plan.etcd.empty()) {
    return {Errc::invalid, "the options --etcd-... go with --state etcds://..."};
  }
  auto nodes = nodes_of(plan, topology);
  if (!nodes) return nodes.error();
  made.nodes = std::move(nodes).value();
  const std::uint32_t standbys = made.state.empty() ? 0 : std::min(plan.standbys, plan.agents - 1);
  auto taken = Addresses::take(plan, made.nodes, standbys);
  if (!taken) return taken.error();
  Addresses& addresses = taken.value();

  const NotWritableByOthers closed;
  if (auto s = make_folder(plan.dir); !s.ok()) return s.error();
  auto access = keep_etcd_files(plan.etcd, plan.dir);
  if (!access) return access.error();
  made.etcd = std::move(access).value();
  if (auto s = save_topology(topology, (plan.dir / made.topology).string()); !s.ok())
    return s.error();
  Flock members;
  for (const DeployedNode& node : made.nodes) {
    auto member_made =
        make_node(made, node, node.role == Role::client ? "" : addresses.next(node.host));
    if (!member_made) return member_made.error();
    Member& member = members[node.id] = std::move(member_made).value();
    if (node.role == Role::client) member.holder = {plan.user, true};
    for (std::uint32_t i = 1; node.role == Role::agent && i <= standbys; ++i) {
      const AgentId host = host_of_seat(node.partition, i, plan.agents);
      auto seat = make_seat(made, node, host, addresses.next(made.nodes[host.value].host));
      if (!seat) return seat.error();
      member.standby.push_back(std::move(seat).value());
    }
  }
  if (auto s = write_flock(made.dir / "flock.json", members); !s.ok()) return s.error();
  if (auto s = write_deployment(made); !s.ok()) return s.error();
  if (auto s = plan.adopt ? begin_beyond_the_lost(made) : done(); !s.ok()) return s.error();
  return made;
}

}  // namespace

Result<Deployment> create_deployment(const DeploymentPlan& plan, const Topology& topology) {
  std::optional<EtcdAddress> named;
  auto made = create(plan, topology, named);
  if (!made && named) give_up_etcd_name(*named);
  return made;
}

}  // namespace starling
