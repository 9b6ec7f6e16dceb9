// SPDX-License-Identifier: Apache-2.0
// Which node serves what when servers come and go: each keeps what is its own.
#include "launch/servers/new_servers.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "base/rng.h"
#include "launch/deployment/deployment_check.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/servers/generations.h"
#include "topology/file/load.h"
#include "topology/fingerprint.h"

namespace starling {
namespace {

/// Racks of servers with 2 GPUs; a name that ends in 0 has none.
Topology of(const std::vector<std::vector<std::string>>& racks) {
  std::string text =
      "name: t\nserver_templates: {x: {gpus: 2, gpu_type: V100}, n: {gpus: 0}}\nracks:\n";
  for (std::size_t r = 0; r < racks.size(); ++r) {
    text += "  - {name: r" + std::to_string(r) + ", servers: [";
    for (const std::string& name : racks[r])
      text += std::string("{template: ") + (name.back() == '0' ? "n" : "x") + ", names: [" + name +
              "]}, ";
    text += "]}\n";
  }
  const auto read = parse_topology_yaml(text, "t.yaml");
  REQUIRE_MESSAGE(read.ok(), (read ? std::string() : read.error().message));
  return read.value();
}

Deployment flock_of(const Topology& topology, std::uint32_t agents, std::uint32_t each) {
  Deployment flock;
  flock.dir = "flock";
  for (std::uint32_t a = 0; a < agents; ++a) {
    DeployedNode agent;
    agent.id = agent_node(AgentId{a});
    agent.name = "agent-" + std::to_string(a);
    agent.role = Role::agent;
    agent.partition = PartitionId{a};
    flock.nodes.push_back(agent);
  }
  const auto executors = executor_nodes(topology, agents, each).value();
  flock.nodes.insert(flock.nodes.end(), executors.begin(), executors.end());
  DeployedNode client;
  client.id = client_node(0);
  client.name = "client-0";
  client.role = Role::client;
  flock.nodes.push_back(client);
  return flock;
}

/// "executor-0@0:0-2 ...": name, partition, servers.
std::string seats(const Deployment& flock) {
  std::string text;
  for (const DeployedNode* node : flock.with_role(Role::executor)) {
    text += node->name.substr(9) + "@" + std::to_string(node->partition.value) + ":" +
            std::to_string(node->servers.first) + "-" + std::to_string(node->servers.last) + " ";
  }
  return text;
}

TEST_CASE("servers that come go to the executor that they stand among, or to new executors") {
  const Topology before = of({{"a", "b"}, {"c", "d"}});
  const Deployment flock = flock_of(before, 2, 2);
  REQUIRE(seats(flock) == "0@0:0-2 1@1:2-4 ");
  const auto after = [&](const std::vector<std::vector<std::string>>& racks, std::uint32_t each) {
    const Topology topology = of(racks);
    const auto made = plan_servers(flock, before, topology, each, 7);
    REQUIRE_MESSAGE(made.ok(), (made ? std::string() : made.error().message));
    const Deployment& next = made.value().flock;
    CHECK(check_deployment(next).ok());
    CHECK(fits_topology(next, topology).ok());
    CHECK(next.generation == 2);
    CHECK(next.fingerprint == fingerprint_of(topology));
    CHECK(next.nodes.back().name == "client-0");
    return seats(next);
  };
  CHECK(after({{"a", "x", "b"}, {"c", "d"}}, 2) == "0@0:0-3 1@1:3-5 ");  // between its own
  CHECK(after({{"a", "b"}, {"c", "d", "x", "y", "z"}}, 2) == "0@0:0-2 1@1:2-4 7@1:4-6 8@1:6-7 ");
  CHECK(after({{"x", "a", "b"}, {"c", "d"}}, 2) == "7@0:0-1 0@0:1-3 1@1:3-5 ");
  CHECK(after({{"a", "b", "x"}, {"y", "c", "d"}}, 2) == "0@0:0-2 7@0:2-3 8@1:3-4 1@1:4-6 ");
  // A rack of its own at the border: whose partition has fewer GPUs.
  CHECK(after({{"a", "b"}, {"x"}, {"c", "d", "y"}}, 2) == "0@0:0-2 7@0:2-3 1@1:3-5 8@1:5-6 ");
  CHECK(after({{"a"}, {"x", "y"}, {"d"}}, 2) == "0@0:0-1 7@0:1-3 1@1:3-4 ");
}

TEST_CASE("executors without servers end; those that are left keep their numbers") {
  const Topology before = of({{"a", "b"}, {"c", "d"}});
  const Deployment flock = flock_of(before, 2, 1);
  const auto made = plan_servers(flock, before, of({{"b"}, {"c", "x"}}), 1, 4).value();
  CHECK(seats(made.flock) == "1@0:0-1 2@1:1-2 4@1:2-3 ");
  CHECK(made.gone_executors == std::vector<std::string>{"executor-0", "executor-3"});
  CHECK(made.new_executors == std::vector<std::string>{"executor-4"});
  CHECK(to_be_drained(made.change) == std::vector<ServerId>{ServerId{0}, ServerId{3}});
  CHECK(describe(made, before, of({{"b"}, {"c", "x"}})) ==
        std::vector<std::string>{"- a", "- d",
                                 "+ x: 2 V100 GPUs (agent-1, executor-4, which is new)",
                                 "  executor-0 has no server any more and ends",
                                 "  executor-3 has no server any more and ends"});
}

TEST_CASE("borders stay where they are: the cut is not made anew") {
  const Topology before = of({{"a", "b"}, {"c", "d"}}),
                 after = of({{"a", "b"}, {"c", "d", "e", "f", "g", "h"}});
  Deployment flock = flock_of(before, 2, 2);
  flock = plan_servers(flock, before, after, 8, 2).value().flock;
  CHECK(seats(flock) == "0@0:0-2 1@1:2-4 2@1:4-8 ");
  const auto parts = partitions_of(flock, after).value();
  CHECK(parts[0].servers == IndexRange{0, 2});
  CHECK(parts[1].servers == IndexRange{2, 8});
  CHECK(parts[1].gpus == IndexRange{4, 16});
  // Another file under that name is noticed.
  CHECK(fits_topology(flock, after).ok());
  const Status other = fits_topology(flock, of({{"a", "b"}, {"c", "d", "e", "f", "g", "i"}}));
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("not what the flock's servers were changed to") !=
        std::string::npos);
}

/// Who serves each server, by name.
std::map<std::string, std::string> servers_of(const Deployment& flock, const Topology& topology) {
  std::map<std::string, std::string> by_name;
  for (const DeployedNode* node : flock.with_role(Role::executor)) {
    for (std::uint32_t s = node->servers.first; s < node->servers.last; ++s)
      by_name[topology.server(ServerId{s}).name] = node->name;
  }
  return by_name;
}

/// Some of them go, some others come; one that stays keeps its place among those that stay.
std::vector<std::vector<std::string>> changed(const std::vector<std::vector<std::string>>& racks,
                                              Rng& rng, std::uint32_t& fresh) {
  std::vector<std::vector<std::string>> next;
  for (const auto& rack : racks) {
    next.emplace_back();
    for (const std::string& name : rack) {
      while (rng.below(4) == 0) next.back().push_back("n" + std::to_string(fresh++) + "x");
      if (rng.below(4) != 0) next.back().push_back(name);
    }
    if (next.back().empty()) next.pop_back();
    if (rng.below(5) == 0) next.push_back({"n" + std::to_string(fresh++) + "x"});
  }
  if (next.empty()) next.push_back({"n" + std::to_string(fresh++) + "x"});
  return next;
}

TEST_CASE(
    "any row of changes: a server that stays is with the same executor, numbers are used once") {
  Rng rng(7);
  std::size_t made_all = 0, refused = 0;
  for (int run = 0; run < 60; ++run) {
    std::uint32_t fresh = 0, unused = 0;
    std::vector<std::vector<std::string>> racks(1 + rng.below(4));
    for (auto& rack : racks) {
      for (std::uint32_t s = 0; s < 1 + rng.below(4); ++s)
        rack.push_back("n" + std::to_string(fresh++) + "x");
    }
    Topology topology = of(racks);
    const auto agents =
        static_cast<std::uint32_t>(1 + rng.below(std::min(3U, topology.server_count())));
    Deployment flock = flock_of(topology, agents, static_cast<std::uint32_t>(1 + rng.below(3)));
    std::vector<Generation> earlier;
    std::set<std::string> used;
    for (const DeployedNode* node : flock.with_role(Role::executor)) used.insert(node->name);
    unused = static_cast<std::uint32_t>(used.size());
    for (int step = 0; step < 5; ++step) {
      const auto next_racks = changed(racks, rng, fresh);
      const Topology next = of(next_racks);
      const auto each = static_cast<std::uint32_t>(1 + rng.below(3));
      const auto made = plan_servers(flock, topology, next, each, unused);
      if (!made) {
        CHECK(made.error().code == Errc::invalid);
        ++refused;
        continue;
      }
      ++made_all;
      const Deployment& then = made.value().flock;
      CHECK(fits_topology(then, next).ok());
      CHECK(check_deployment(then).ok());
      const auto before = servers_of(flock, topology), after = servers_of(then, next);
      CHECK(after.size() == next.server_count());
      for (const auto& [name, executor] : after) {
        if (const auto was = before.find(name); was != before.end()) CHECK(was->second == executor);
      }
      for (const DeployedNode* node : then.with_role(Role::executor)) {
        if (const DeployedNode* was = flock.find(node->name))
          CHECK(was->partition == node->partition);
      }
      for (const std::string& name : made.value().new_executors) CHECK(used.insert(name).second);
      unused = static_cast<std::uint32_t>(used.size());
      // Names of files: each server's own, and the same as before.
      const auto labels_then = server_labels(earlier, topology);
      earlier.push_back({flock, topology, fingerprint_of(topology)});
      const auto labels = server_labels(earlier, next);
      std::set<std::string> seen;
      for (std::uint32_t s = 0; s < next.server_count(); ++s) {
        CHECK(seen.insert(labels[s].server).second);
        for (std::uint32_t g = 0; g < next.server(ServerId{s}).gpus.size(); ++g)
          CHECK(seen.insert("gpu-" + labels[s].gpus + std::to_string(labels[s].first_gpu + g))
                    .second);
        for (std::uint32_t t = 0; t < topology.server_count(); ++t) {
          if (topology.server(ServerId{t}).name != next.server(ServerId{s}).name) continue;
          CHECK(labels_then[t].server == labels[s].server);
        }
      }
      flock = then;
      topology = next;
      racks = next_racks;
    }
  }
  CHECK(made_all > 100);
  CHECK(refused > 0);
}

TEST_CASE("on hosts: executors have servers of one host, and servers stay on theirs") {
  const Topology before = of({{"a", "b"}, {"c", "d"}});
  Deployment flock = flock_of(before, 2, 2);
  for (DeployedNode& node : flock.nodes) {
    if (node.role == Role::executor) node.host = node.partition.value == 0 ? "h1" : "h2";
  }
  using Hosts = std::vector<std::string>;
  const auto plan = [&](const std::vector<std::vector<std::string>>& racks, const Hosts& hosts) {
    return plan_servers(flock, before, of(racks), 8, 2, hosts);
  };
  const auto more =
      plan({{"a", "b"}, {"c", "d", "e", "f", "g"}}, {"h1", "h1", "h2", "h2", "h2", "h1", "h1"});
  REQUIRE_MESSAGE(more.ok(), (more ? std::string() : more.error().message));
  CHECK(seats(more.value().flock) == "0@0:0-2 1@1:2-4 2@1:4-5 3@1:5-7 ");
  CHECK(more.value().flock.find("executor-2")->host == "h2");
  CHECK(more.value().flock.find("executor-3")->host == "h1");
  CHECK(more.value().flock.find("executor-0")->host == "h1");
  const auto among = plan({{"a", "n", "b"}, {"c", "d"}}, {"h1", "h1", "h1", "h2", "h2"});
  REQUIRE(among.ok());
  CHECK(seats(among.value().flock) == "0@0:0-3 1@1:3-5 ");
  const auto refused = [&](const auto& racks, const Hosts& hosts) {
    const auto made = plan(racks, hosts);
    REQUIRE_FALSE(made.ok());
    return made.error().message;
  };
  using Racks = std::vector<std::vector<std::string>>;
  CHECK(refused(Racks{{"a", "b"}, {"c", "d"}}, {"h1", "h2", "h2", "h2"})
            .find("server 'b' lives on h1, and cannot go to h2") != std::string::npos);
  CHECK(refused(Racks{{"a", "n", "b"}, {"c", "d"}}, {"h1", "h2", "h1", "h2", "h2"})
            .find("'n' would stand among those of executor-0, all of which are on h1") !=
        std::string::npos);
}

TEST_CASE("what cannot be is said") {
  const Topology before = of({{"a", "b"}, {"c", "d"}});
  const Deployment flock = flock_of(before, 2, 2);
  const auto why = [&](const std::vector<std::vector<std::string>>& racks) {
    const auto made = plan_servers(flock, before, of(racks), 2, 2);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == Errc::invalid);
    return made.error().message;
  };
  CHECK(why({{"a", "b"}}).starts_with("agent-1 would have no server with GPUs left"));
  CHECK(why({{"x", "y"}}).starts_with("none of its servers"));
  CHECK(why({{"c", "d"}, {"a", "b"}}).starts_with("server 'd' stands before 'a' now"));
}

}  // namespace
}  // namespace starling
