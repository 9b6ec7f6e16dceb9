// SPDX-License-Identifier: Apache-2.0
// Of one life of a node: what must not go back, and what may.
#include "sim/check/changes.h"

#include <doctest/doctest.h>

#include "agents/owner/scripted_owner_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

const NodeId kNode = agent_node(AgentId{0});

TEST_CASE("a hold goes from reserved to committed, launched and released, and never back") {
  Changes changes;
  ScriptedOwner owner;
  const auto look = [&] { return changes.look(kNode, owner.agent->state()); };
  CHECK(look() == "");
  owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, owner.gpus, 5000});
  CHECK(look() == "");
  owner.hear(owner.kHome, owner.commit());
  CHECK(look() == "");
  AgentState committed = owner.agent->state();
  owner.hear(owner.kHome, StartAttempt{owner.attempt, owner.kFence});
  CHECK(look() == "");
  CHECK(look() == "");  // nothing new
  CHECK(changes.look(kNode, committed).find("S9 the hold of") == 0);
}

TEST_CASE("the version of a ledger and the epochs that are known only rise") {
  Changes changes;
  ScriptedOwner owner;
  AgentState before = owner.agent->state();
  owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, owner.gpus, 5000});
  AgentState after = owner.agent->state();
  after.flock.peers[1].epoch = Epoch{5};
  REQUIRE(changes.look(kNode, after) == "");
  SUBCASE("the version") {
    CHECK(changes.look(kNode, before) == "S9 the ledger's version has fallen");
  }
  SUBCASE("an epoch") {
    after.flock.peers[1].epoch = Epoch{4};
    CHECK(changes.look(kNode, after) == "S7 the epoch of partition 1 has fallen");
    CHECK(changes.look(kNode, after) == "");  // said once
  }
  SUBCASE("another life begins anew") {
    before.config.incarnation = Incarnation{2};
    CHECK(changes.look(kNode, before) == "");
  }
  SUBCASE("another node is another story") {
    CHECK(changes.look(agent_node(AgentId{1}), before) == "");
  }
}

TEST_CASE("the epoch that an executor obeys only rises in one life") {
  Changes changes;
  ScriptedOwner owner;
  ExecutorConfig config;
  config.me = executor_node(0);
  config.servers = {0, 1};
  ExecutorState executor(config, owner.topology);
  executor.epoch = Epoch{4};
  CHECK(changes.look(config.me, executor) == "");
  CHECK(changes.look(config.me, executor) == "");
  executor.epoch = Epoch{3};
  SUBCASE("in one life") { CHECK(changes.look(config.me, executor) != ""); }
  SUBCASE("not over lives") {
    executor.config.incarnation = Incarnation{2};
    CHECK(changes.look(config.me, executor) == "");
  }
}

}  // namespace
}  // namespace starling
