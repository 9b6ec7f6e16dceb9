// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/readiness.h"

#include <doctest/doctest.h>

#include "topology/generate/generate.h"

namespace starling {
namespace {

TEST_CASE("a flock is ready when all is there that can be, and one agent serves") {
  GeneratorOptions options;
  options.servers = 4;
  options.gpus_per_server = 2;
  const Topology topology = generate_flat(options).value();
  Deployment flock;
  for (std::uint32_t i = 0; i < 2; ++i) {
    flock.nodes.push_back(
        {NodeId{i}, "agent-" + std::to_string(i), Role::agent, PartitionId{i}, {}});
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    flock.nodes.push_back({NodeId{10 + i},
                           "executor-" + std::to_string(i),
                           Role::executor,
                           PartitionId{i / 2},
                           {i, i + 1}});
  }
  AgentStatus first, second;
  second.agent = AgentId{1};
  const auto look = [&](const std::vector<AgentStatus>& all, const std::set<std::string>& away) {
    return readiness(flock, topology, all, away);
  };
  CHECK(look({first, second}, {}).ready);
  CHECK_FALSE(look({first}, {}).ready);
  CHECK(look({first}, {"agent-1"}).ready);
  CHECK(look({first}, {"agent-1"}).agents == 1);
  CHECK_FALSE(look({}, {"agent-0", "agent-1"}).ready);

  second.quarantined = 2;
  CHECK_FALSE(look({first, second}, {}).ready);
  CHECK_FALSE(look({first, second}, {"executor-0"}).ready);  // of the other partition
  CHECK(look({first, second}, {"executor-3"}).ready);
  second.quarantined = 3;
  CHECK(look({first, second}, {"executor-3"}).missing ==
        "2 of 2 agents answer, 1 GPU waits for their executor");
  second.sick = 1;
  CHECK(look({first, second}, {"executor-3"}).ready);
}

TEST_CASE("GPUs that are bad or rest are of executors that answer") {
  AgentStatus status;
  status.quarantined = 6;
  CHECK(awaited_gpus(status) == 6);
  status.sick = 1;
  status.resting = 4;
  CHECK(awaited_gpus(status) == 1);
  status.resting = 8;  // counted a moment later
  CHECK(awaited_gpus(status) == 0);
}

}  // namespace
}  // namespace starling
