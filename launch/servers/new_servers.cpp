// SPDX-License-Identifier: Apache-2.0
#include "launch/servers/new_servers.h"

#include <algorithm>
#include <set>

#include "launch/deployment/deployment_check.h"
#include "launch/servers/generations.h"
#include "topology/fingerprint.h"

namespace starling {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// Shared subtrees: 2 the rack, 1 the pod, 0 none below the data centre.
int nearness(const Topology& topology, std::uint32_t a, std::uint32_t b) {
  if (topology.rack_of(ServerId{a}) == topology.rack_of(ServerId{b})) return 2;
  return topology.pod_of(ServerId{a}) == topology.pod_of(ServerId{b}) ? 1 : 0;
}

/// Which node serves each server of the data centre to come, by index into the flock's nodes, and
/// which partition has it.
class ExecutorLayout {
 public:
  ExecutorLayout(const Deployment& flock, const Topology& before, const Topology& after,
                 const TopologyChange& change, std::vector<std::string> hosts)
      : flock_(flock),
        after_(after),
        hosts_(std::move(hosts)),
        executor_(after.server_count(), kNone),
        partition_(after.server_count(), kNone),
        gpus_(flock.agents(), 0) {
    std::vector<std::uint32_t> was(before.server_count(), kNone);
    for (std::uint32_t n = 0; n < flock.nodes.size(); ++n) {
      const DeployedNode& node = flock.nodes[n];
      if (node.role != Role::executor) continue;
      for (std::uint32_t s = node.servers.first; s < node.servers.last; ++s) was.at(s) = n;
    }
    for (const KeptServer& kept : change.kept) {
      const std::uint32_t node = was[kept.before.value];
      executor_[kept.after.value] = node;
      partition_[kept.after.value] = flock.nodes[node].partition.value;
      gpus_[partition_[kept.after.value]] += after.server(kept.after).gpus.size();
    }
  }

  Status fill() {
    for (std::uint32_t s = 0; s < executor_.size(); ++s) {
      const std::uint32_t node = executor_[s];
      if (node == kNone || flock_.nodes[node].host == hosts_[s]) continue;
      return {Errc::invalid, "server '" + after_.server(ServerId{s}).name + "' lives on " +
                                 flock_.nodes[node].host + ", and cannot go to " + hosts_[s] +
                                 "; take it away, and then let it come with another name"};
    }
    for (std::uint32_t first = 0; first < executor_.size();) {
      std::uint32_t last = first;
      while (last < executor_.size() && executor_[last] == kNone) ++last;
      if (last > first) {
        if (Status s = fill_run(first, last); !s.ok()) return s;
      }
      first = last + 1;
    }
    return done();
  }

  [[nodiscard]] std::uint32_t executor(std::uint32_t server) const { return executor_[server]; }
  [[nodiscard]] std::uint32_t partition(std::uint32_t server) const { return partition_[server]; }
  [[nodiscard]] const std::string& host(std::uint32_t server) const { return hosts_[server]; }

 private:
  /// New servers that stand together.
  Status fill_run(std::uint32_t first, std::uint32_t last) {
    const bool left = first > 0, right = last < executor_.size();
    const std::uint32_t before = left ? executor_[first - 1] : kNone;
    if (left && right && before != kNone && before == executor_[last]) {
      for (std::uint32_t s = first; s < last; ++s) {
        if (hosts_[s] == flock_.nodes[before].host) continue;
        return {Errc::invalid, "server '" + after_.server(ServerId{s}).name +
                                   "' would stand among those of " + flock_.nodes[before].name +
                                   ", all of which are on " + flock_.nodes[before].host +
                                   "; let it come before or behind them, or on that host"};
      }
      std::fill(executor_.begin() + first, executor_.begin() + last, before);
    }
    if (!right || !left || partition_[first - 1] == partition_[last]) {
      give(first, last, partition_[right ? last : first - 1]);
      return done();
    }
    const std::uint32_t a = partition_[first - 1], b = partition_[last];
    std::uint32_t from = first, until = last;
    while (from < until && nearer(from, first - 1, last)) ++from;
    while (until > from && nearer(until - 1, last, first - 1)) --until;
    give(first, from, a);
    give(until, last, b);
    give(from, until, gpus_[a] <= gpus_[b] ? a : b);
    return done();
  }
  [[nodiscard]] bool nearer(std::uint32_t server, std::uint32_t to, std::uint32_t than) const {
    return nearness(after_, server, to) > nearness(after_, server, than);
  }
  void give(std::uint32_t first, std::uint32_t last, std::uint32_t partition) {
    for (std::uint32_t s = first; s < last; ++s) {
      partition_[s] = partition;
      gpus_[partition] += after_.server(ServerId{s}).gpus.size();
    }
  }

  const Deployment& flock_;
  const Topology& after_;
  std::vector<std::string> hosts_;  // of each server
  std::vector<std::uint32_t> executor_, partition_;
  std::vector<std::uint64_t> gpus_;
};

const DeployedNode* executor_of(const Deployment& flock, ServerId server) {
  for (const DeployedNode* node : flock.with_role(Role::executor)) {
    if (node->servers.contains(server.value)) return node;
  }
  return nullptr;
}

DeployedNode new_executor(std::uint32_t number, std::uint32_t partition, IndexRange servers,
                          const std::string& host) {
  DeployedNode node;
  node.id = executor_node(number);
  node.name = "executor-" + std::to_string(number);
  node.role = Role::executor;
  node.partition = PartitionId{partition};
  node.servers = servers;
  node.host = host;
  return node;
}

Status has_gpus(const Deployment& flock, const Topology& after) {
  std::vector<std::uint64_t> gpus(flock.agents(), 0);
  for (const DeployedNode* node : flock.with_role(Role::executor)) {
    for (std::uint32_t s = node->servers.first; s < node->servers.last; ++s)
      gpus[node->partition.value] += after.server(ServerId{s}).gpus.size();
  }
  for (std::size_t p = 0; p < gpus.size(); ++p) {
    if (gpus[p] > 0) continue;
    return {Errc::invalid, "agent-" + std::to_string(p) +
                               " would have no server with GPUs left; leave it one, or make a new "
                               "flock with fewer agents"};
  }
  return done();
}

std::string at(const Deployment& flock, ServerId server) {
  const DeployedNode* node = executor_of(flock, server);
  if (node == nullptr) return "";
  const std::string where = node->host.empty() ? "" : " on " + node->host;
  return "agent-" + std::to_string(node->partition.value) + ", " + node->name + where;
}

}  // namespace

Result<NewServers> plan_servers(const Deployment& flock, const Topology& before,
                                const Topology& after, std::uint32_t servers_per_executor,
                                std::uint32_t used, const std::vector<std::string>& server_hosts) {
  auto change = compare(before, after);
  if (!change) return change.error();
  NewServers made{std::move(change).value(), flock, {}, {}};
  if (made.change.kept.empty())
    return {Errc::invalid,
            "none of its servers is one of the flock's, which are told apart by their names"};
  ExecutorLayout layout(
      flock, before, after, made.change,
      server_hosts.empty() ? std::vector<std::string>(after.server_count()) : server_hosts);
  if (const Status filled = layout.fill(); !filled.ok()) return filled.error();

  // Executors that stay keep their number and whatever of their servers there still is.
  std::vector<DeployedNode> executors;
  std::set<std::uint32_t> staying;
  std::uint32_t next = used;
  for (std::uint32_t first = 0; first < after.server_count();) {
    const std::uint32_t node = layout.executor(first), partition = layout.partition(first);
    std::uint32_t last = first;
    while (last < after.server_count() && layout.executor(last) == node &&
           layout.partition(last) == partition &&
           (node != kNone ||
            (last - first < servers_per_executor && layout.host(last) == layout.host(first))))
      ++last;
    if (node == kNone) {
      executors.push_back(new_executor(next++, partition, {first, last}, layout.host(first)));
      made.new_executors.push_back(executors.back().name);
    } else {
      executors.push_back(flock.nodes[node]);
      executors.back().servers = {first, last};
      staying.insert(node);
    }
    first = last;
  }
  std::vector<DeployedNode> nodes;
  for (std::uint32_t n = 0; n < flock.nodes.size(); ++n) {
    const DeployedNode& node = flock.nodes[n];
    if (node.role != Role::executor)
      nodes.push_back(node);
    else if (!staying.contains(n))
      made.gone_executors.push_back(node.name);
  }
  const auto clients = std::find_if(nodes.begin(), nodes.end(), [](const DeployedNode& node) {
    return node.role == Role::client;
  });
  nodes.insert(clients, executors.begin(), executors.end());
  made.flock.nodes = std::move(nodes);
  if (const Status gpus = has_gpus(made.flock, after); !gpus.ok()) return gpus.error();
  ++made.flock.generation;
  made.flock.topology = generation_topology(made.flock.generation);
  made.flock.fingerprint = fingerprint_of(after);
  if (const Status fits = fits_topology(made.flock, after); !fits.ok()) return fits.error();
  return made;
}

std::uint32_t usual_servers_per_executor(const Deployment& flock) {
  std::uint32_t most = 1;
  for (const DeployedNode* node : flock.with_role(Role::executor))
    most = std::max(most, node->servers.size());
  return most;
}

std::vector<std::string> describe(const NewServers& servers, const Topology& before,
                                  const Topology& after) {
  std::vector<std::string> lines;
  for (const ServerId server : servers.change.removed)
    lines.push_back("- " + before.server(server).name);
  for (const KeptServer& kept : servers.change.kept) {
    if (kept.change.empty()) continue;
    lines.push_back("~ " + after.server(kept.after).name + ": " + kept.change);
  }
  for (const ServerId server : servers.change.added) {
    const Server& added = after.server(server);
    std::string line = "+ " + added.name + ": " + std::to_string(added.gpus.size());
    if (added.gpus.size() > 0) line += " " + after.gpu_types()[added.gpu_type.value].name;
    line += added.gpus.size() == 1 ? " GPU (" : " GPUs (";
    line += at(servers.flock, server);
    const DeployedNode* node = executor_of(servers.flock, server);
    const bool fresh = node != nullptr && std::count(servers.new_executors.begin(),
                                                     servers.new_executors.end(), node->name) > 0;
    lines.push_back(line + (fresh ? ", which is new)" : ")"));
  }
  for (const std::string& name : servers.gone_executors)
    lines.push_back("  " + name + " has no server any more and ends");
  if (servers.change.otherwise) lines.push_back("  links, capacities or names of racks are others");
  return lines;
}

std::vector<ServerId> to_be_drained(const TopologyChange& change) {
  std::vector<ServerId> servers = change.removed;
  for (const KeptServer& kept : change.kept) {
    if (!kept.change.empty()) servers.push_back(kept.before);
  }
  std::sort(servers.begin(), servers.end());
  return servers;
}

}  // namespace starling
