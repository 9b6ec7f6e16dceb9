// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "agents/step/state.h"
#include "sim/test_two_racks.h"

// Nodes that are started on older copies of their journals, where everybody hears everybody.

namespace starling {
namespace {

using namespace std::chrono_literals;

Trace gangs_of_one_to_three() {
  Trace trace = equal_jobs(40, 20s, 2s);
  for (std::uint32_t i = 0; i < 40; ++i) trace.jobs[i].spec.workers = 1 + i % 3;
  return trace;
}

SimOptions that_know_lives() {
  SimOptions options;
  options.known_lives = true;
  return options;
}

struct Flock : TwoRacks {
  Flock() : TwoRacks(gangs_of_one_to_three(), that_know_lives()) {
    world->on_stopped([this](World&, NodeId node) { stopped = node; });
  }
  NodeId stopped;
};

TEST_CASE("no node is told that it is outlived where every start is from the newest state") {
  Flock flock;
  World& world = *flock.world;
  flock.until(30s);
  REQUIRE(world.restart_agent(AgentId{0}).ok());
  REQUIRE(world.restart_executor(0).ok());
  REQUIRE(world.take_over(AgentId{1}, 0s).ok());
  flock.to_the_end();
  CHECK(flock.stopped == NodeId{});
}

TEST_CASE(
    "an executor on an older copy of its journal is told so, ends, and goes on when that is "
    "accepted") {
  Flock flock;
  World& world = *flock.world;
  flock.until(20s);
  const World::Backup backup = world.backup(executor_node(1));
  flock.until(50s);
  world.restore_executor(1, backup);
  REQUIRE(world.restart_executor(1).ok());
  flock.until(55s);
  CHECK(flock.stopped == executor_node(1));
  CHECK(world.outlived(executor_node(1)));
  CHECK(world.executor(1) == nullptr);
  // Again, and it is told again.
  flock.stopped = NodeId{};
  REQUIRE(world.restart_executor(1).ok());
  flock.until(60s);
  CHECK(flock.stopped == executor_node(1));
  flock.stopped = NodeId{};
  world.accept_loss(1);
  REQUIRE(world.restart_executor(1).ok());
  flock.to_the_end();
  CHECK(flock.stopped == NodeId{});
}

TEST_CASE("an agent on an older copy of its journal is told so before it has promised anything") {
  Flock flock;
  World& world = *flock.world;
  flock.until(20s);
  const World::Backup backup = world.backup(agent_node(AgentId{0}));
  flock.until(50s);
  const std::uint64_t accepted = world.users().counts().accepted;
  REQUIRE(world.start_old_copy(AgentId{0}, backup).ok());
  CHECK(world.is_old_copy(AgentId{0}));
  flock.until(52s);
  CHECK(flock.stopped == agent_node(AgentId{0}));
  CHECK(world.outlived(agent_node(AgentId{0})));
  CHECK_FALSE(world.is_old_copy(AgentId{0}));  // its state is where it was
  CHECK(world.users().counts().accepted <= accepted + 1);
  flock.stopped = NodeId{};
  REQUIRE(world.restart_agent(AgentId{0}).ok());
  flock.to_the_end();
  CHECK(flock.stopped == NodeId{});
}

}  // namespace
}  // namespace starling
