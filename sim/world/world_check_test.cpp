// SPDX-License-Identifier: Apache-2.0
// What the world looks at for its checker, and what it leaves out: corrupt frames, and the memory
// of nodes that end.
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/test_registry.h"
#include "sim/world/world.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

const NodeId kAgent = agent_node(AgentId{0});

/// One agent with one executor, and ten jobs for it over ten minutes, on a network that loses.
struct SmallWorld {
  explicit SmallWorld(bool check = true) {
    for (std::uint32_t i = 0; i < 10; ++i) {
      TraceJob job;
      job.submit = i * 60s;
      job.spec.id = trace_job_id(i);
      job.spec.workers = 2;
      job.spec.duration = 90s;
      trace.jobs.push_back(job);
    }
    SimOptions options;
    options.check = check;
    options.network = NetworkModel::lan();
    options.network.loss = 0.01;
    world = World::make(topology, trace, registry(), options).value();
  }
  /// Empty: every job has finished, and no rule is violated.
  std::string run() {
    const Status ran = world->run();
    if (!ran.ok()) return ran.error().message;
    return world->users().counts().finished == trace.jobs.size() ? "" : "not all have finished";
  }
  Topology topology = generate_flat({.servers = 1, .gpus_per_server = 4}).value();
  Trace trace;
  std::unique_ptr<World> world;
};

/// Every fourth frame is one that no node may take: `honest`, it is cut off; else a good one still.
void corrupt_some(World& world, bool honest) {
  world.network().set_tamper(
      [n = 0, honest](NodeId, NodeId, std::vector<std::byte>& frame) mutable {
        if (++n % 4 != 0) return Network::Tampered::no;
        if (honest) frame.resize(frame.size() / 2);
        return Network::Tampered::corrupt;
      });
}

TEST_CASE("corrupt frames that are refused, and change nothing, are as if they were lost") {
  SmallWorld w;
  corrupt_some(*w.world, true);
  CHECK(w.run() == "");
  CHECK(w.world->network().corrupted() > 20);
  CHECK(w.world->counters(kAgent).bad_frames > 5);
}

TEST_CASE("a node that takes a corrupt frame violates S10, where a checker looks") {
  SmallWorld w;
  corrupt_some(*w.world, false);
  const std::string wrong = w.run();
  CHECK(wrong.find("S10") != std::string::npos);
  CHECK(wrong.find("took a corrupt frame for a good one") != std::string::npos);
  SmallWorld unseen(false);
  corrupt_some(*unseen.world, false);
  CHECK(unseen.run() == "");
}

TEST_CASE("what a node had not yet written down when its disk failed is not held against it") {
  for (const bool again : {false, true}) {
    CAPTURE(again);
    SmallWorld w;
    int stopped = 0;
    w.world->on_stopped([&](World& world, NodeId node) {
      ++stopped;
      world.at(world.now() + 2s, [node](World& later) {
        later.disk(node).faults() = {};
        (void)later.restart_agent(AgentId{node.value - 1});
      });
    });
    const auto fail = [](World& world) { world.disk(kAgent).faults().fails_once = true; };
    w.world->at(Instant(100s), fail);
    if (again) w.world->at(Instant(400s), fail);
    CHECK(w.run() == "");
    CHECK(stopped == (again ? 2 : 1));
  }
}

TEST_CASE("a journal that is damaged is not compared with what the node knows") {
  SmallWorld w;
  w.world->at(Instant(200s), [](World& world) {
    REQUIRE(world.disk(kAgent).damage(1));
    world.crash_agent(AgentId{0});
    CHECK_FALSE(world.restart_agent(AgentId{0}).ok());
    world.disk(kAgent).repair();
    CHECK(world.restart_agent(AgentId{0}).ok());
  });
  CHECK(w.run() == "");
}

TEST_CASE("what stands in a node's journal and it does not know violates S15 when it writes next") {
  SmallWorld w;
  w.world->at(Instant(100s), [](World& world) {
    Submit foreign;
    foreign.spec.id = JobId{7, 7};
    CHECK(world.disk(kAgent).append(std::vector<Record>{JobAccepted{foreign, 100}}).ok());
  });
  CHECK(w.run().find("S15") != std::string::npos);
}

TEST_CASE("a record that was durable and is gone when a node ends violates S15 then") {
  for (const NodeId node : {kAgent, executor_node(0)}) {
    CAPTURE(node.value);
    SmallWorld w;
    w.world->at(Instant(100s), [node](World& world) {
      const auto before = world.disk(node).copy();
      CHECK(world.disk(node).append(std::vector<Record>{EpochSeen{PartitionId{0}, Epoch{9}}}).ok());
      world.disk(node).restore(*before);
      node == kAgent ? world.crash_agent(AgentId{0}) : world.crash_executor(0);
    });
    const std::string wrong = w.run();
    CAPTURE(wrong);
    CHECK(wrong.find("S15") != std::string::npos);
    CHECK(wrong.find("100.000000000 s") != std::string::npos);
  }
}

}  // namespace
}  // namespace starling
