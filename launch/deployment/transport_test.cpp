// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/transport.h"

#include <doctest/doctest.h>

#include "bus/flock.h"
#include "bus/keys.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/deployment/local_flock.h"
#include "topology/generate/generate.h"

using namespace starling;
using namespace std::chrono_literals;

TEST_CASE("a flock.json that changed is taken on, whatever its time says") {
  const std::filesystem::path folder = temporary_dir().value();
  GeneratorOptions shape;
  shape.servers = 2;
  shape.gpus_per_server = 4;
  DeploymentPlan plan;
  plan.dir = folder / "flock";
  plan.agents = 2;
  plan.servers_per_executor = 1;
  const Deployment deployment = create_deployment(plan, generate_flat(shape).value()).value();
  const auto keys = deployment.node_dir("agent-0") / "keys.json";
  const auto file = deployment.dir / "flock.json";
  const NodeId other = agent_node(AgentId{1});
  {
    auto endpoint = open_endpoint(deployment, agent_node(AgentId{0}), keys, Limits{}, 0).value();
    const auto taken_within = [&](Duration patience) {
      const Instant until = later(machine_clock().now(), patience);
      while (machine_clock().now() < until && taken_flock(keys) != flock_mark(deployment.dir))
        (void)endpoint->receive(later(machine_clock().now(), 50ms));
      return taken_flock(keys) == flock_mark(deployment.dir);
    };
    CHECK(taken_within(5s));
    const auto time = std::filesystem::last_write_time(file);
    for (int change = 0; change < 2; ++change) {
      Flock flock = read_flock(file).value();
      flock.at(other).also = {generate_keys().value().public_key};
      REQUIRE(write_flock(file, flock).ok());
      std::filesystem::last_write_time(file, time);
      CHECK(taken_within(5s));
    }
  }
  std::filesystem::remove_all(folder);
}
