// SPDX-License-Identifier: Apache-2.0
// Agents in a world that is not the one that their speed model was made for: with the adaptive
// model they find out and are right sooner than with corrections alone, and a restart forgets
// little of it.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "agents/step/state.h"
#include "interference/models.h"
#include "interference/sharing.h"
#include "sim/simulate.h"
#include "sim/test_crowd.h"
#include "sim/test_registry.h"
#include "sim/world/world.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Jobs that share a GPU cost one another a half more than they did, and who uses the GPU much
/// suffers from that most.
class OtherHardware final : public Contention {
 public:
  [[nodiscard]] double on_gpu(const ModelProfile& own, std::span<const ModelProfile* const> others,
                              GpuKind kind) const noexcept override {
    double cost = 0;
    for (const ModelProfile* other : others)
      cost += 1.5 / sharing_speed(own, *other, kind) - 1 + 0.6 * own.gpu_utilization;
    return cost;
  }
  [[nodiscard]] double on_host(const ModelProfile& own, double ratio) const noexcept override {
    return fitted_contention().on_host(own, ratio);
  }
};

/// All of Gavel's types.
std::vector<std::string> gavel_names() {
  std::vector<std::string> names;
  for (const ModelProfile& model : gavel_models()) names.emplace_back(model.name);
  return names;
}

SimOptions options_of(const std::string& policy, bool adaptive) {
  SimOptions options;
  options.policy = policy;
  options.physics = PhysicsKind::full;
  options.contention = std::make_shared<OtherHardware>();
  options.speed.kind = SpeedKind::learned;
  options.speed.adaptive = adaptive;
  options.observe = 2min;
  return options;
}

/// Mean error over pairs of all types.
double error_of(const SpeedModel& speed, const Topology& topology) {
  const auto physics =
      make_full_physics(topology, {.contention = std::make_shared<OtherHardware>()});
  double sum = 0;
  for (const ModelProfile& one : gavel_models()) {
    for (const ModelProfile& other : gavel_models()) {
      const Placement here{GpuId{0}};
      const JobProfile job{std::string(one.name), 1};
      const Neighbours beside = {{{std::string(other.name), 1}, here}};
      sum += std::abs(speed.speed(job, here, beside).relative - physics->rate(job, here, beside));
    }
  }
  return sum / (26 * 26);
}

struct Learned {
  double before = 0, after = 0, again = 0;  ///< errors: at first, later, after a restart then
  SpeedHealth health;
};

Learned run(const std::string& policy, bool adaptive) {
  const Topology topology = v100_servers(3);
  const Trace trace = crowd(60, gavel_names());
  auto made = World::make(topology, trace, registry(), options_of(policy, adaptive));
  REQUIRE(made.ok());
  World& world = *made.value();
  const auto model = [&]() -> const SpeedModel& { return world.agent(AgentId{0})->state().speed; };
  Learned out;
  out.before = error_of(model(), topology);
  world.at(Instant{} + 4h, [&](World& w) {
    out.after = error_of(model(), topology);
    out.health = w.agent(AgentId{0})->status().speed;
    REQUIRE(w.restart_agent(AgentId{0}).ok());
    out.again = error_of(model(), topology);
  });
  REQUIRE(world.run().ok());
  return out;
}

TEST_CASE("on other hardware the adaptive model is right sooner, of pairs that never ran, too") {
  const Learned corrected = run("lif:threshold=0.1", false),
                adapted = run("lif:threshold=0.1", true);
  MESSAGE("mean error " << adapted.before << " at first; corrected " << corrected.after
                        << ", adapted " << adapted.after << " after " << adapted.health.observed
                        << " measured speeds, " << adapted.again << " after a restart");
  CHECK(adapted.before == corrected.before);
  CHECK(adapted.health.model == "adaptive");
  CHECK(adapted.health.drifts >= 1);
  CHECK(adapted.after < 0.5 * adapted.before);
  CHECK(adapted.after < 0.8 * corrected.after);
  CHECK(adapted.again == doctest::Approx(adapted.after).epsilon(0.2));
}

TEST_CASE("meta-rl explores there, and its runs repeat with one agent and with several") {
  for (const std::uint32_t agents : {1U, 3U}) {
    SimOptions options = options_of("meta-rl:budget=0.2", true);
    options.agents = agents;
    const auto hash = [&] {
      auto result = simulate(v100_servers(3), crowd(50, gavel_names()), registry(), options);
      REQUIRE(result.ok());
      return result.value().trace_hash;
    };
    const std::uint64_t once = hash();
    CHECK(once == hash());
    options.policy = "meta-rl:bonus=0";
    if (agents == 1) CHECK(once != hash());
  }
}

}  // namespace
}  // namespace starling
