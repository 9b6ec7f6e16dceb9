// Who serves what when servers come and go: everybody keeps what is his.
#include "launch/servers/new_servers.h"

#include <doctest/doctest.h>

#include "launch/deployment_check.h"
#include "launch/deployment_plan.h"
#include "topology/fingerprint.h"
#include "topology/load.h"

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

TEST_CASE("servers that come go to whom they stand among, or to new executors") {
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

TEST_CASE("executors without servers end; who is left keeps its number") {
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
