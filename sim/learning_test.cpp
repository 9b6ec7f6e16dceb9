// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "agents/step/state.h"
#include "interference/models.h"
#include "sim/simulate.h"
#include "sim/test_crowd.h"
#include "sim/test_registry.h"
#include "sim/world/world.h"

// Agents that learn from what runs: each test states what must come of measured speeds, which carry
// noise and hidden factors of the full physics.

namespace starling {
namespace {

using namespace std::chrono_literals;

const std::string kModels[] = {"ResNet-50 (batch size 64)",
                               "LM (batch size 20)",
                               "resnet18",
                               "Transformer (batch size 64)",
                               "vgg16",
                               "bert-base"};

SimOptions learning() {
  SimOptions options;
  options.policy = "lif:threshold=0.1";
  options.physics = PhysicsKind::full;
  options.speed.kind = SpeedKind::learned;
  options.observe = 2min;
  options.measure_noise = 0.05;
  return options;
}

/// Mean error over pairs of all models on one GPU of a server whose other GPUs are taken.
double error_of(const SpeedModel& speed, const Physics& physics) {
  double sum = 0;
  int count = 0;
  for (const std::string& one : kModels) {
    for (const std::string& other : kModels) {
      const Placement here{GpuId{0}};
      const Neighbours beside = {{{other, 1}, here}, {{"resnet18", 1}, {GpuId{1}}}};
      const JobProfile job{one, 1};
      sum += std::abs(speed.speed(job, here, beside).relative - physics.rate(job, here, beside));
      ++count;
    }
  }
  return sum / count;
}

TEST_CASE("agents predict better for what they saw run, and a restart forgets little of it") {
  const Topology topology = v100_servers(3);
  const Trace trace = crowd(150, kModels);
  const auto physics = make_full_physics(topology);
  auto made = World::make(topology, trace, registry(), learning());
  REQUIRE(made.ok());
  World& world = *made.value();
  const auto model = [&]() -> const SpeedModel& { return world.agent(AgentId{0})->state().speed; };
  const double before = error_of(model(), *physics);
  double learned = 0, again = 0;
  std::uint64_t observed = 0, kept = 0;
  world.at(Instant{} + 6h, [&](World& w) {
    learned = error_of(model(), *physics);
    observed = w.agent(AgentId{0})->status().speed.observed;
    REQUIRE(w.restart_agent(AgentId{0}).ok());
    again = error_of(model(), *physics);
    kept = w.agent(AgentId{0})->status().speed.observed;
  });
  REQUIRE(world.run().ok());
  const SpeedHealth health = world.agent(AgentId{0})->status().speed;
  const double after = error_of(model(), *physics);
  MESSAGE("mean error " << before << " at first, " << learned << " after " << observed
                        << " measured speeds, " << again << " after a restart, " << after
                        << " after " << health.observed << ", " << health.drifts << " drifts");
  CHECK(observed > 500);
  CHECK(learned < 0.7 * before);
  CHECK(kept + AgentNode::kKeepEvery > observed);
  CHECK(kept <= observed);
  CHECK(again == doctest::Approx(learned).epsilon(0.2));
  CHECK(after < 0.7 * before);
  CHECK(health.observed > observed);
  CHECK(health.model == "learned");
  CHECK(health.fallbacks == 0);
  CHECK(health.refused == 0);
}

TEST_CASE("runs that learn repeat; frozen models and worlds that do not ask learn nothing") {
  const Topology topology = v100_servers(2);
  const Trace trace = crowd(40, kModels);
  const auto run = [&](const SimOptions& options) {
    auto result = simulate(topology, trace, registry(), options);
    REQUIRE(result.ok());
    return std::move(result).value();
  };
  SimOptions options = learning();
  options.agents = 2;
  CHECK(run(options).trace_hash == run(options).trace_hash);
  options.network = NetworkModel::lan();
  options.network.loss = 0.05;
  CHECK(run(options).trace_hash == run(options).trace_hash);
  for (const bool frozen : {false, true}) {
    SimOptions still = learning();
    still.speed.frozen = frozen;
    if (!frozen) still.observe = 0s;
    auto world = World::make(topology, trace, registry(), still);
    REQUIRE(world.ok());
    REQUIRE(world.value()->run().ok());
    CHECK(world.value()->agent(AgentId{0})->status().speed.observed == 0);
  }
}

TEST_CASE("where the world changes, the agent's status tells of drift") {
  // Two jobs that share a GPU for days, whose measured speed falls by half.
  const Topology topology = v100_servers(1);
  Trace trace;
  for (std::uint32_t i = 0; i < 8; ++i) {
    TraceJob job;
    job.spec.id = trace_job_id(i);
    job.spec.model = kModels[i % 2];
    job.spec.duration = 200h;
    trace.jobs.push_back(job);
  }
  SimOptions options = learning();
  options.policy = "lif:threshold=0.01";
  auto made = World::make(topology, trace, registry(), options);
  REQUIRE(made.ok());
  World& world = *made.value();
  const auto drifts = [&] { return world.agent(AgentId{0})->status().speed.drifts; };
  std::uint64_t before = 0, later = 0;
  std::string trouble;
  world.at(Instant{} + 20h, [&](World& w) {
    before = drifts();
    w.hardware().set_bias(0.5);
  });
  world.at(Instant{} + 40h, [&](World& w) {
    later = drifts();
    trouble = w.agent(AgentId{0})->status().speed.trouble;
  });
  while (world.now() < Instant{} + 41h) {
    const auto more = world.step();
    REQUIRE(more.ok());
    REQUIRE(more.value());
  }
  const SpeedHealth health = world.agent(AgentId{0})->status().speed;
  MESSAGE(health.observed << " measured speeds, " << health.drifts << " drifts");
  CHECK(before == 0);
  CHECK(later >= 1);
  CHECK(trouble.find("drift") == 0);
}

}  // namespace
}  // namespace starling
