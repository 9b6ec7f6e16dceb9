// SPDX-License-Identifier: Apache-2.0
// Whole clusters whose nodes do not all hear each other, speak different versions, lose GPUs or are
// drained.
#include <doctest/doctest.h>

#include "agents/step/state.h"
#include "sim/test_registry.h"
#include "sim/world/world.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

const Topology& cluster() {
  static const Topology made = generate_leaf_spine({.servers = 6, .servers_per_rack = 2}).value();
  return made;
}
Trace crowd(std::uint32_t jobs) {
  Rng rng(7);
  Trace trace;
  trace.name = "crowd";
  for (std::uint32_t i = 0; i < jobs; ++i) {
    TraceJob job;
    job.submit = std::chrono::seconds(5 * i);
    job.spec.id = trace_job_id(i);
    job.spec.workers = 1U << rng.below(5);
    job.spec.duration = std::chrono::seconds(20 + rng.below(100));
    trace.jobs.push_back(job);
  }
  return trace;
}
SimOptions three_agents() {
  SimOptions options;
  options.policy = "fifo:queue=skip";
  options.agents = 3;
  options.servers_per_executor = 1;
  options.check = true;
  options.network = NetworkModel::lan();
  return options;
}
Instant at(Duration d) { return Instant{} + d; }
std::unique_ptr<World> make(const Trace& trace, const SimOptions& options) {
  auto world = World::make(cluster(), trace, registry(), options);
  REQUIRE(world.ok());
  return std::move(world).value();
}
std::uint64_t all_finished(World& world) {
  const Status ran = world.run();
  REQUIRE_MESSAGE(ran.ok(), (ran.ok() ? "" : ran.error().message));
  return world.users().counts().finished;
}
const Standing& standing(World& world, std::uint32_t of, std::uint32_t about) {
  return world.agent(AgentId{of})->state().flock.peers[about].watch.standing;
}

TEST_CASE("a partial partition makes no agent suspect that another is dead") {
  const Trace trace = crowd(40);
  const auto world = make(trace, three_agents());
  const NodeId a = agent_node(AgentId{0}), b = agent_node(AgentId{1});
  const auto cut = [=](bool is_cut) {
    return [=](World& w) {
      w.network().cut(a, b, is_cut);
      w.network().cut(b, a, is_cut);
    };
  };
  world->at(at(20s), cut(true));
  std::uint32_t lost = 0, cut_off = 0;
  for (Duration t = 21s; t < 80s; t += 1s) {
    world->at(at(t), [&](World& w) {
      for (std::uint32_t i = 0; i < 3; ++i) {
        for (std::uint32_t k = 0; k < 3; ++k) {
          lost += standing(w, i, k) == Standing::lost ? 1 : 0;
          cut_off += standing(w, i, k) == Standing::cut_off ? 1 : 0;
        }
      }
    });
  }
  world->at(at(80s), cut(false));
  world->at(at(90s), [&](World& w) { CHECK(standing(w, 0, 1) == Standing::well); });
  CHECK(all_finished(*world) == 40);
  CHECK(lost == 0);
  CHECK(cut_off > 80);  // both of them, nearly all the time
}

TEST_CASE("nodes of two versions work together, and nothing is said that the older does not know") {
  const Trace trace = crowd(60);
  SimOptions options = three_agents();
  options.protocols = {{agent_node(AgentId{1}), 1}, {executor_node(0), 1}, {executor_node(5), 1}};
  const auto world = make(trace, options);
  world->at(at(30s), [](World& w) {  // something to probe, and something to tell
    w.network().cut(agent_node(AgentId{0}), agent_node(AgentId{2}), true);
    w.hardware().set_sick(GpuId{0}, true);
    w.hardware().set_sick(GpuId{20}, true);
  });
  world->at(at(60s), [](World& w) {
    w.network().cut(agent_node(AgentId{0}), agent_node(AgentId{2}), false);
    w.hardware().set_sick(GpuId{0}, false);
    w.hardware().set_sick(GpuId{20}, false);
  });
  CHECK(all_finished(*world) == 60);
  for (std::uint32_t i = 0; i < 3; ++i)
    CHECK(world->counters(agent_node(AgentId{i})).bad_frames == 0);
  for (std::uint32_t e = 0; e < 6; ++e) {
    CHECK(world->counters(executor_node(e)).bad_frames == 0);
    CHECK(world->counters(executor_node(e)).unauthorised == 0);
  }
}

TEST_CASE("a rolling restart from one version to the next and back loses no job") {
  const Trace trace = crowd(80);
  SimOptions options = three_agents();
  for (std::uint32_t a = 0; a < 3; ++a) options.protocols[agent_node(AgentId{a})] = 1;
  for (std::uint32_t e = 0; e < 6; ++e) options.protocols[executor_node(e)] = 1;
  const auto world = make(trace, options);
  Duration t = 20s;
  for (const std::uint16_t protocol : {std::uint16_t{2}, std::uint16_t{1}}) {
    for (std::uint32_t a = 0; a < 3; ++a, t += 10s) {
      world->at(at(t), [=](World& w) {
        w.set_protocol(agent_node(AgentId{a}), protocol);
        REQUIRE(w.restart_agent(AgentId{a}));
      });
    }
    for (std::uint32_t e = 0; e < 6; ++e, t += 10s) {
      world->at(at(t), [=](World& w) {
        w.set_protocol(executor_node(e), protocol);
        REQUIRE(w.restart_executor(e));
      });
    }
  }
  CHECK(all_finished(*world) == 80);
}

TEST_CASE("drains and bad GPUs cost time and no job") {
  const Trace trace = crowd(60);
  SimOptions options = three_agents();
  const auto world = make(trace, options);
  world->at(at(30s), [](World& w) { w.drain(ServerId{1}, true, true); });
  world->at(at(40s), [](World& w) { w.hardware().set_sick(GpuId{17}, true); });
  world->at(at(55s), [](World& w) {
    const AgentState& first = w.agent(AgentId{0})->state();
    CHECK(first.owner.ledger.is_drained(ServerId{1}));
    CHECK(first.owner.ledger.drained_count() == cluster().server(ServerId{1}).gpus.size());
    std::size_t sick = 0;
    for (std::uint32_t a = 0; a < 3; ++a)
      sick += w.agent(AgentId{a})->state().owner.ledger.sick().size();
    CHECK(sick == 1);
  });
  world->at(at(100s), [](World& w) { w.hardware().set_sick(GpuId{17}, false); });
  world->at(at(150s), [](World& w) { w.drain(ServerId{1}, false); });
  CHECK(all_finished(*world) == 60);
}

}  // namespace
}  // namespace starling
