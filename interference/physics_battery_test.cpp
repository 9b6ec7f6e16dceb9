// SPDX-License-Identifier: Apache-2.0
// What every Physics promises, whichever it is.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "base/rng.h"
#include "interference/flows/coupled_gangs.h"
#include "interference/models.h"
#include "topology/generate/generate.h"
#include "workload/catalogue.h"

using namespace starling;

namespace {

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Physics>(const Topology&)> make;
};

std::vector<Kind> kinds() {
  FullPhysicsOptions straggling;
  straggling.straggler_sigma = 0.1;
  FullPhysicsOptions goodput;
  goodput.goodput = true;
  return {
      {"trace", [](const Topology&) { return make_trace_physics(); }},
      {"full", [](const Topology& t) { return make_full_physics(t); }},
      {"stragglers", [=](const Topology& t) { return make_full_physics(t, straggling); }},
      {"goodput", [=](const Topology& t) { return make_full_physics(t, goodput); }},
      {"flows", [](const Topology& t) { return make_flow_physics(t); }},
      {"flows, stragglers", [=](const Topology& t) { return make_flow_physics(t, straggling); }},
      {"phases", [](const Topology& t) { return make_flow_physics(t, {}, LinkDemand::mean); }}};
}

Topology mixed() {
  GeneratorOptions options;
  options.groups = {{8, "K80"}, {8, "V100"}};
  options.servers_per_rack = 4;
  options.uplink_gbps = 50;
  options.cpus = 24;
  return generate_leaf_spine(options).value();
}

Neighbour random_gang(Rng& rng, const Topology& topology) {
  Neighbour gang;
  const std::uint32_t first = rng.below(topology.gpu_count());
  const std::uint32_t apart = 1 + rng.below(9);
  const std::uint32_t most = 1U << rng.below(6);
  for (std::uint32_t g = first; g < topology.gpu_count() && gang.placement.size() < most;
       g += apart)
    gang.placement.emplace_back(g);
  const auto models = catalogue();
  gang.job.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
  gang.job.gpus = gang.job.asked = static_cast<std::uint32_t>(gang.placement.size());
  gang.job.straggler_seed = std::uint64_t{rng.next()} << 32U;
  return gang;
}

}  // namespace

TEST_CASE("every physics: rates in (0, 1], the same when asked again, no gain by neighbours") {
  const Topology topology = mixed();
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    const auto physics = kind.make(topology);
    const auto again = kind.make(topology);
    Rng rng(3);
    for (int round = 0; round < 200; ++round) {
      const Neighbour gang = random_gang(rng, topology);
      Neighbours beside;
      double before = 1;
      for (int n = 0; n < 5; ++n) {
        const double rate = physics->rate(gang.job, gang.placement, beside);
        REQUIRE(rate > 0);
        REQUIRE(rate <= before);
        REQUIRE(rate == again->rate(gang.job, gang.placement, beside));
        if (!physics->varies()) REQUIRE(rate == 1);
        before = rate;
        beside.push_back(random_gang(rng, topology));
      }
      REQUIRE(physics->scaling(gang.job) == 1);  // at the size that it asks for
      REQUIRE(physics->startup_s(gang.job) >= 0);
    }
  }
}

TEST_CASE("every physics with coupled gangs: the same promises with whatever share they have") {
  const Topology topology = mixed();
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    const auto physics = kind.make(topology);
    const auto* coupled = dynamic_cast<const CoupledPhysics*>(physics.get());
    const auto gangs = coupled != nullptr ? coupled->gangs() : nullptr;
    if (gangs == nullptr) continue;
    Rng rng(4);
    std::vector<Neighbour> there;
    int shares = 0;
    for (std::uint32_t n = 0; n < 60; ++n) {
      there.push_back(random_gang(rng, topology));
      gangs->join(n, {0, n + 1}, there.back().job, there.back().placement);
      for (std::uint32_t i = 0; i <= n; ++i) {
        const auto& [job, placement] = there[i];
        const NetworkShare* share = gangs->share(i);
        REQUIRE((share == nullptr || topology.tier_of(placement) == Tier::network));
        if (share == nullptr) continue;
        ++shares;
        const double rate = coupled->rate(job, placement, {}, *share);
        REQUIRE(rate > 0);
        REQUIRE(rate <= 1);
        // Others in the same servers still count.
        REQUIRE(coupled->rate(job, placement, {there[(i + 1) % there.size()]}, *share) <= rate);
      }
    }
    CHECK(shares > 100);
  }
}
