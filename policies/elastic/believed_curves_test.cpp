// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/believed_curves.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "interference/models.h"
#include "interference/profile.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// One elastic job that is measured, without noise, wherever the test puts it.
struct Home {
  Home() {
    spec.id = JobId{0, 1};
    spec.model = "vgg16";
    spec.min_workers = 1, spec.max_workers = 32;
    view.spec = &spec;
  }
  Placement on(std::uint32_t servers, std::uint32_t each) const {
    Placement gpus;
    for (std::uint32_t s = 0; s < servers; ++s) {
      for (std::uint32_t g = 0; g < each; ++g) gpus.push_back(GpuId{8 * s + g});
    }
    return gpus;
  }
  double true_pace(const Placement& gpus) const {
    return progress_rate(*physics, profile_of(spec, static_cast<std::uint32_t>(gpus.size())), gpus,
                         {}, {});
  }
  View seen() {
    return {topology, occupancy, {}, {&view, 1}, {}, *speed, now, AgentId{0}, nullptr, nullptr, {}};
  }
  View gone() {
    return {topology, occupancy, {}, {}, {}, *speed, now, AgentId{0}, nullptr, nullptr, {}};
  }
  void measure(BelievedCurves& curves, const Placement& gpus_there) {
    now = later(now, 60s);
    view.placement = gpus_there;
    view.pace = true_pace(gpus_there);
    view.measured_at = now;
    curves.observe(seen());
  }
  double error(const BelievedCurves& curves, const JobSpec& of) {
    double sum = 0;
    int count = 0;
    for (std::uint32_t servers : {1U, 2U, 4U}) {
      for (std::uint32_t each : {1U, 2U, 4U, 8U}) {
        const Placement there = on(servers, each);
        sum += std::abs(curves.pace(seen(), of, there, {}).value() / true_pace(there) - 1);
        ++count;
      }
    }
    return sum / count;
  }

  Topology topology = generate_flat({.servers = 4, .gpus_per_server = 8}).value();
  Occupancy occupancy{topology, {0, 4}};
  std::unique_ptr<Physics> physics = make_full_physics(topology);
  std::unique_ptr<SpeedModel> speed = make_analytic_speed(topology);
  JobSpec spec;
  JobView view;
  Instant now;
};

TEST_CASE("a job that was measured is believed as it is, from the next learn() on") {
  Home home;
  BelievedCurves curves;
  CHECK_FALSE(curves.knows(home.spec));
  CHECK_FALSE(curves.pace(home.seen(), home.spec, home.on(1, 1), {}));
  home.measure(curves, home.on(1, 1));
  CHECK_FALSE(curves.knows(home.spec));
  curves.learn();
  REQUIRE(curves.knows(home.spec));
  const double first = home.error(curves, home.spec);
  for (const auto& [servers, each] : {std::pair(1U, 4U), {2U, 8U}, {4U, 2U}, {1U, 8U}})
    home.measure(curves, home.on(servers, each));
  CHECK(home.error(curves, home.spec) == doctest::Approx(first));
  curves.learn();
  const double then = home.error(curves, home.spec);
  MESSAGE("mean error " << first << " after one allocation, " << then << " after five");
  CHECK(then < 0.06);
  CHECK(then < 0.5 * first);
}

TEST_CASE("the same figure counts once, and of a job that waits nothing is taken in") {
  Home home;
  BelievedCurves curves;
  home.measure(curves, home.on(1, 2));
  const auto version = curves.version();
  curves.observe(home.seen());
  CHECK(curves.version() == version);
  home.view.measured_at = kNever;
  curves.observe(home.seen());
  CHECK(curves.version() == version);
}

TEST_CASE("a job of a kind that ran here begins with its curve") {
  Home home;
  BelievedCurves curves;
  for (const auto& [servers, each] : {std::pair(1U, 1U), {1U, 4U}, {2U, 8U}, {4U, 2U}})
    home.measure(curves, home.on(servers, each));
  curves.learn();
  curves.observe(home.gone());
  JobSpec next = home.spec;
  next.id = JobId{0, 2};
  CHECK(curves.knows(next));
  CHECK(home.error(curves, next) < 0.1);
  next.model = "resnet50";
  CHECK_FALSE(curves.knows(next));
}

TEST_CASE("what was learned outlives its process, and what cannot be changes nothing") {
  Home home;
  BelievedCurves curves, next;
  for (const auto& [servers, each] : {std::pair(1U, 1U), {1U, 4U}, {2U, 8U}, {4U, 2U}})
    home.measure(curves, home.on(servers, each));
  curves.learn();
  MemoryWriter out;
  curves.save(out);
  MemoryReader in(out.bytes());
  next.restore(in);
  REQUIRE(in.whole());
  next.learn();
  for (const auto& [servers, each] : {std::pair(1U, 2U), {3U, 8U}, {4U, 1U}}) {
    const Placement there = home.on(servers, each);
    CHECK(*next.pace(home.seen(), home.spec, there, {}) ==
          doctest::Approx(*curves.pace(home.seen(), home.spec, there, {})).epsilon(1e-3));
  }
  for (std::size_t cut = 0; cut < out.bytes().size(); cut += 8) {
    BelievedCurves other;
    MemoryReader part(std::span(out.bytes()).first(cut));
    other.restore(part);
    CHECK_FALSE(part.whole());
    CHECK_FALSE(other.knows(home.spec));
  }
  out.word(0);  // more than there should be
  BelievedCurves other;
  MemoryReader more(out.bytes());
  other.restore(more);
  CHECK_FALSE(other.knows(home.spec));
}

}  // namespace
}  // namespace starling
