// SPDX-License-Identifier: Apache-2.0
// When a placement explores, and when it must not; figures by hand.
#include "policies/metarl/meta_rl.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "policies/placement/placement_policy.h"
#include "policies/registry.h"
#include "scheduling/policy_memory.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Two jobs on one GPU: `pair` of their speed each, give or take `unsure`.
struct UnsureSpeeds final : SpeedModel {
  double pair = 0.6, unsure = 0.1;
  [[nodiscard]] Speed speed(const JobProfile&, const Placement& placement,
                            const Neighbours& beside) const override {
    for (const Neighbour& other : beside) {
      if (std::ranges::find(other.placement, placement.front()) != other.placement.end())
        return {pair, unsure};
    }
    return {1, 0};
  }
};

/// A server of one GPU, on which a job runs; another of an hour waits.
struct OneGpu {
  Topology topology = make();
  Occupancy gpus{topology, {0, 1}, 2};
  UnsureSpeeds speed;
  JobSpec runs, waits;
  std::vector<JobView> waiting{1}, running{1};
  std::unique_ptr<Policy> policy;

  explicit OneGpu(const std::string& text) : policy(make_policy_registry().make(text).value()) {
    runs.id = {1, 1}, waits.id = {1, 2};
    runs.model = "LM", waits.model = "A3C";
    runs.duration = waits.duration = 1h;
    running[0].spec = &runs, running[0].order = 1, running[0].placement = {GpuId{0}};
    waiting[0].spec = &waits, waiting[0].order = 2;
    gpus.take(running[0].placement);
  }
  static Topology make() {
    GeneratorOptions options;
    options.groups = {{1, "V100"}};
    options.gpus_per_server = 1;
    return generate_flat(options).value();
  }
  bool starts(Instant now = Instant{}) {
    const View view{topology, gpus, waiting, running, {}, speed, now, AgentId{0}};
    Rng rng(1);
    return !policy->decide(view, {}, rng).empty();
  }
  [[nodiscard]] bool explains_exploring() const {
    return std::ranges::any_of(policy->explain(waits.id), [](const std::string& line) {
      return line.find("explores: ") != std::string::npos;
    });
  }
};

TEST_CASE("a place that is good only where the model is unsure is explored, and that is told") {
  // 0.6 each is a gain of 0.2, which is under the threshold; with a deviation more it is 0.4.
  OneGpu scene("meta-rl:threshold=0.3,budget=0.2");
  CHECK(scene.starts());
  CHECK(scene.explains_exploring());
  OneGpu rule("lif:threshold=0.3");
  CHECK(!rule.starts());
}

TEST_CASE("what is good anyway is no exploration") {
  OneGpu scene("meta-rl:threshold=0.3,budget=0.2");
  scene.speed.pair = 0.8;
  CHECK(scene.starts());
  CHECK(!scene.explains_exploring());
}

/// Takes the best option, or has every job wait.
struct Contrary final : Chooser {
  explicit Contrary(bool all_wait) : waits(all_wait) {}
  [[nodiscard]] std::size_t choose(const DecisionPoint& point,
                                   std::span<const double> scores) override {
    ++asked;
    for (std::size_t i = 0; i < point.options.size() && waits; ++i) {
      if (point.options[i].kind == OptionKind::wait) return i;
    }
    return best_of(scores);
  }
  bool waits;
  int asked = 0;
};

TEST_CASE("the budget pays for what starts where it explores, not for what a chooser had wait") {
  const std::string text = "meta-rl:threshold=0.3,budget=0.15";
  for (const bool waits : {false, true}) {
    OneGpu scene(text);
    PlacementSystem system = make_policy_registry().make_placement(text).value();
    const auto& scorer = dynamic_cast<const MetaRl&>(*system.scorer);
    Contrary chooser(waits);
    scene.policy = std::make_unique<PlacementPolicy>(std::move(system), &chooser);
    CHECK(scene.starts() != waits);
    CHECK(chooser.asked == 1);
    CHECK(scorer.budget().any_runs() != waits);
    const double taken = waits ? 0 : 3600 / 0.6;
    CHECK(scorer.budget().left() == doctest::Approx(0.15 * 12 * 3600 - taken));
  }
}

TEST_CASE("it does not explore without a bonus, a budget, or anything to find out") {
  CHECK(!OneGpu("meta-rl:threshold=0.3,budget=0.2,bonus=0").starts());
  CHECK(!OneGpu("meta-rl:threshold=0.3,budget=0").starts());
  // Twelve hours of a twentieth of a GPU are less than the hour and more that the job will take.
  CHECK(!OneGpu("meta-rl:threshold=0.3,budget=0.05").starts());
  OneGpu sure("meta-rl:threshold=0.3,budget=0.2");
  sure.speed.unsure = 0.01;
  CHECK(!sure.starts());
  CHECK(!sure.explains_exploring());
}

TEST_CASE("two that are believed to do less than one alone are never put together") {
  OneGpu scene("meta-rl:threshold=0.3,bonus=10,budget=1");
  scene.speed.pair = 0.49;
  CHECK(!scene.starts());
}

TEST_CASE("a pair that was explored again and again is explored no more; a restart remembers") {
  OneGpu scene("meta-rl:threshold=0.3,budget=1");
  int explored = 0;
  Instant now{};
  const auto once = [&](OneGpu& in) {
    now += 20h;
    const bool started = in.starts(now);
    if (started) {  // it is found running, and ends
      JobView ran = in.waiting[0];
      ran.placement = {GpuId{0}};
      in.running.push_back(ran);
      const std::vector<JobView> waited = std::exchange(in.waiting, {});
      in.gpus.take(ran.placement);
      now += 1min;
      in.starts(now);
      in.gpus.give_back(ran.placement);
      in.running.pop_back();
      in.waiting = waited;
      ++in.waiting[0].order;
      now += 1h;
      in.starts(now + 1s);
      ++in.waiting[0].order;
    }
    return started;
  };
  while (explored < 20 && once(scene)) ++explored;
  CHECK(explored >= 1);
  CHECK(explored < 20);
  OneGpu again("meta-rl:threshold=0.3,budget=1");
  const auto kept = packed_memory(*scene.policy, "meta-rl:threshold=0.3,budget=1", Instant{});
  REQUIRE(kept.ok());
  REQUIRE(
      unpack_memory(kept.value(), *again.policy, "meta-rl:threshold=0.3,budget=1", Instant{}).ok());
  CHECK(!once(again));
  OneGpu fresh("meta-rl:threshold=0.3,budget=1");
  CHECK(fresh.starts(now));
}

}  // namespace
}  // namespace starling
