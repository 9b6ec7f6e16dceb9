// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/flock/up_again.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/test_folder.h"
#include "bus/flock.h"
#include "launch/deployment/deployment_plan.h"
#include "topology/file/load.h"
#include "topology/generate/generate.h"

using namespace starling;

namespace {

Topology flat(std::uint32_t servers) {
  GeneratorOptions o;
  o.servers = servers;
  o.gpus_per_server = 4;
  return generate_flat(o).value();
}

Deployment two_agents() {
  Deployment flock;
  flock.dir = "flock";
  flock.policy = "consolidate";
  flock.launcher = "process";
  for (std::uint32_t a = 0; a < 2; ++a) {
    DeployedNode agent;
    agent.role = Role::agent;
    agent.partition = PartitionId{a};
    flock.nodes.push_back(agent);
  }
  const auto executors = executor_nodes(flat(4), 2, 2).value();
  flock.nodes.insert(flock.nodes.end(), executors.begin(), executors.end());
  return flock;
}

/// A port of this machine that another process listens at, while it lives.
struct Taken {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  explicit Taken(const std::string& address) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(listen(fd, 1) == 0);
  }
  Taken(const Taken&) = delete;
  ~Taken() { close(fd); }
};

}  // namespace

TEST_CASE("a second up may repeat what the first one said, and nothing else") {
  const Deployment flock = two_agents();
  UpOptions o;
  o.policy = "fifo";  // not given
  CHECK(fits_flock(o, flock, flat(4)).ok());

  const TestFolder folder("again");
  const std::string same = (folder.path / "same.yaml").string(),
                    other = (folder.path / "other.yaml").string();
  REQUIRE(save_topology(flat(4), same).ok());
  REQUIRE(save_topology(flat(5), other).ok());
  o = {};
  o.agents = 2;
  o.policy = "consolidate";
  o.servers_per_executor = 2;
  o.topology = same;
  o.given = {"--policy", "--agents", "--topology", "--servers-per-executor", "--launcher"};
  CHECK(fits_flock(o, flock, flat(4)).ok());

  o.agents = 3;
  o.policy = "tetris";
  o.topology = other;
  o.servers_per_executor = 1;
  const std::string told = fits_flock(o, flock, flat(4)).error().message;
  CHECK(told ==
        "up: the flock in flock is there already, and is not changed by this command: it was "
        "asked for --policy tetris, which is consolidate; --agents 3, which is 2; --topology " +
            other +
            ", which is another data centre; --servers-per-executor 1, which is 2; leave that out "
            "('starling configure' changes policy, speed model and "
            "servers), or "
            "give another --flock");
}

TEST_CASE("standbys are those of the flock's members, and on hosts executors have those servers") {
  const TestFolder folder("again");
  Deployment flock = two_agents();
  flock.dir = folder.path;
  for (DeployedNode& node : flock.nodes) {
    if (node.role == Role::executor) node.host = "h" + std::to_string(node.servers.first / 2);
  }
  UpOptions o;
  const auto told = [&](const char* option) {
    o.given = {option};
    const Status fits = fits_flock(o, flock, flat(4));
    return fits.ok() ? std::string() : fits.error().message;
  };
  CHECK(told("--servers-per-executor").empty());  // 8, and a host has 2
  o.servers_per_executor = 1;
  CHECK(told("--servers-per-executor").find("--servers-per-executor 1, which is 2") !=
        std::string::npos);
  o.servers_per_executor = 2;  // as on hosts; and 'configure' left one with fewer
  for (DeployedNode& node : flock.nodes) {
    if (node.role == Role::executor && node.servers.first == 2) node.servers.last = 3;
  }
  CHECK(told("--servers-per-executor").empty());
  o.servers_per_executor = 1;
  flock.generation = 2;
  CHECK(told("--servers-per-executor").empty());
  CHECK(told("--standbys").empty());  // 3, without effect

  flock.state = "etcd://127.0.0.1:2379/x";
  Flock members;
  for (std::uint32_t a = 0; a < 2; ++a) {
    const std::string port = std::to_string(9000 + 2 * a), other = std::to_string(9001 + 2 * a);
    Member& agent = members[agent_node(AgentId{a})];
    agent = {agent_node(AgentId{a}), Role::agent, "tcp://127.0.0.1:" + port, ""};
    agent.standby.push_back({"tcp://127.0.0.1:" + other, ""});
  }
  REQUIRE(write_flock(flock.dir / "flock.json", members).ok());
  CHECK(told("--standbys").empty());  // 3, and there is one other agent
  o.standbys = 0;
  CHECK(told("--standbys").find("--standbys 0, which is 1") != std::string::npos);
  o.partitions = 2;  // of one agent: all must be able to serve both
  CHECK(told("--standbys").empty());
}

TEST_CASE("standbys without etcd stop no flock, and more than none are told") {
  const TestFolder folder("again");
  UpOptions o;
  o.topology = (folder.path / "site.yaml").string();
  REQUIRE(save_topology(flat(4), o.topology).ok());
  CHECK(idle_standbys(o, "").empty());  // 3, and not given
  o.given = {"--topology", "--standbys"};
  CHECK(up_plan(o, folder.path / "flock").ok());
  CHECK(idle_standbys(o, "").find("--standbys 3 has no effect") != std::string::npos);
  CHECK(idle_standbys(o, "etcd://127.0.0.1:2379/x").empty());
  o.standbys = 0;
  CHECK(up_plan(o, folder.path / "flock").ok());
  CHECK(idle_standbys(o, "").empty());
}

TEST_CASE("a copy of a flock that is up is told by its ports, a single one that is taken is not") {
  const TestFolder folder("copy");
  DeploymentPlan plan;
  plan.dir = folder.path / "flock";
  plan.agents = 2;
  plan.servers_per_executor = 2;
  const Deployment flock = create_deployment(plan, flat(4)).value();
  const Flock members = read_flock(flock.dir / "flock.json").value();
  const auto at = [&](const char* name) { return members.at(flock.find(name)->id).address; };
  const Duration soon = std::chrono::milliseconds(1);
  CHECK(is_free(flock, soon).ok());
  const Taken one(at("agent-0")), two(at("executor-0"));
  CHECK(is_free(flock, soon).ok());  // 2 of 4: the others can come up
  {
    const Taken three(at("executor-1"));
    const Status told = is_free(flock, soon);
    REQUIRE(told.error().code == Errc::conflict);
    CHECK(told.error().message.find("3 of the 4 ports") != std::string::npos);
    CHECK(told.error().message.find(at("agent-0")) != std::string::npos);
  }
  // Daemons that are about to end are waited for.
  auto dying = std::make_unique<Taken>(at("executor-1"));
  std::thread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    dying.reset();
  });
  CHECK(is_free(flock, std::chrono::seconds(60)).ok());
  ends.join();
}
