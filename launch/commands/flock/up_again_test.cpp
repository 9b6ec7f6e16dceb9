// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/flock/up_again.h"

#include <doctest/doctest.h>

#include "base/test_folder.h"
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

}  // namespace

TEST_CASE("a second up may repeat what the first one said, and nothing else") {
  const Deployment flock = two_agents();
  UpOptions o;
  o.policy = "fifo";  // not given: nobody asked for it
  CHECK(fits_flock(o, flock, flat(4)).ok());

  const TestFolder folder("again");
  const std::string same = (folder.path / "same.yaml").string(),
                    other = (folder.path / "other.yaml").string();
  REQUIRE(save_topology(flat(4), same).ok());
  REQUIRE(save_topology(flat(5), other).ok());
  o = {};
  o.agents = 2;
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
            ", which is another data centre; --servers-per-executor 1, which is another "
            "number; leave that out ('starling configure' changes policy, speed model and "
            "servers), or "
            "give another --flock");
}
