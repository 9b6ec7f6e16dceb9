// SPDX-License-Identifier: Apache-2.0
// What a roll-out costs: 128 GPUs under load with a queue of 50 and 60 jobs to come, by lif with a
// threshold, in the full physics, from one start.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>

#include "gnn/quick_lif.h"
#include "gnn/search/rollout.h"
#include "interference/models.h"
#include "policies/registry.h"
#include "topology/generate/generate.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

constexpr const char* kPolicy = "lif:threshold=0.3";
constexpr std::size_t kQueue = 50, kArrivals = 60;

// Philly's sizes, as often as there.
std::uint32_t draw_size(Rng& rng) {
  const double u = rng.uniform();
  return u < 0.7 ? 1 : u < 0.78 ? 2 : u < 0.88 ? 4 : u < 0.97 ? 8 : 16;
}

RolloutArrival draw(Rng& rng, std::uint64_t id, double after_s) {
  const auto models = gavel_models();
  RolloutArrival job;
  job.after = from_seconds(after_s);
  job.spec.id = {1, id};
  job.spec.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
  job.spec.workers = draw_size(rng);
  job.work_s = 60 * std::exp(4 + 1.5 * rng.normal());
  return job;
}

struct Scene {
  Topology topology = generate_fat_tree({.servers = 16, .gpus_per_server = 8}).value();
  std::unique_ptr<Physics> physics = make_full_physics(topology);
  std::unique_ptr<SpeedModel> world = make_true_speed(*physics);
  std::unique_ptr<SpeedModel> asked = make_analytic_speed(topology);
  PolicyRegistry registry = make_policy_registry();
  SpeedMemo world_memo{topology, *world}, asked_memo{topology, *asked};
  std::unique_ptr<RolloutStart> start, plain;

  [[nodiscard]] std::unique_ptr<Policy> policy() const { return registry.make(kPolicy).value(); }
};

// Ends a roll-out where the queue is as long as it is to be.
struct Catch final : Policy {
  Scene& scene;
  std::unique_ptr<Policy> real;
  Rng rng{9};
  explicit Catch(Scene& s) : scene(s), real(s.policy()) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return real->facts(); }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& other) override {
    if (view.waiting.size() < kQueue || scene.start) return real->decide(view, trigger, other);
    RolloutFuture future;
    for (std::size_t i = 0; i < view.waiting.size(); ++i)
      future.waiting_s.push_back(draw(rng, 0, 0).work_s);
    for (std::size_t i = 0; i < view.running.size(); ++i)
      future.running_s.push_back(draw(rng, 0, 0).work_s);
    double at = 0;
    for (std::size_t i = 0; i < kArrivals; ++i) {
      at += 120 * rng.exponential();
      future.arrivals.push_back(draw(rng, 1'000'000 + i, at));
    }
    RolloutWorld world;
    world.speed = scene.world.get();
    scene.plain = std::make_unique<RolloutStart>(view, future, world);
    world.speed_memo = &scene.world_memo;
    world.asked_memo = &scene.asked_memo;
    scene.start = std::make_unique<RolloutStart>(view, std::move(future), world);
    return {};
  }
};

Scene& scene() {
  static Scene made;
  if (made.start) return made;
  Occupancy empty(made.topology, {0, made.topology.server_count()}, 2);
  Rng rng(4);
  RolloutFuture future;
  double at = 0;
  for (std::uint64_t id = 0; id < 3000; ++id) {
    at += 50 * rng.exponential();
    future.arrivals.push_back(draw(rng, id, at));
  }
  const View view{made.topology, empty, {}, {}, {}, *made.asked, Instant{}, {}};
  const RolloutStart start(view, std::move(future), {.speed = made.world.get()});
  Catch caught(made);
  (void)Rollout().run(start, {}, caught, {.events = 6000});
  STARLING_CHECK(made.start);
  return made;
}

void BM_Rollout(benchmark::State& state) {
  Scene& s = scene();
  const RolloutStart& start = state.range(1) != 0 ? *s.start : *s.plain;
  Rollout rollout;
  RolloutResult result;
  RolloutLimits limits;
  if (state.range(0) > 0) limits.horizon = std::chrono::minutes(state.range(0));
  for (auto _ : state) {
    const auto policy = s.policy();
    result = rollout.run(start, {}, *policy, limits);
    benchmark::DoNotOptimize(result);
  }
  state.counters["events"] = static_cast<double>(result.events);
  state.counters["running"] = s.start->present() - s.start->waiting();
  state.counters["queue"] = s.start->waiting();
  state.counters["misses"] = static_cast<double>(s.world_memo.misses() + s.asked_memo.misses());
  state.counters["known"] = static_cast<double>(s.world_memo.size() + s.asked_memo.size());
  state.counters["cost_h"] = result.cost_s / 3600;
}
// The same under the quick rule.
void BM_QuickRollout(benchmark::State& state) {
  Scene& s = scene();
  static PairSpeeds pairs(s.topology, s.asked_memo);
  Rollout rollout;
  RolloutResult result;
  for (auto _ : state) {
    QuickLif policy(pairs);
    result = rollout.run(*s.start, {}, policy);
    benchmark::DoNotOptimize(result);
  }
  state.counters["events"] = static_cast<double>(result.events);
  state.counters["cost_h"] = result.cost_s / 3600;
}
BENCHMARK(BM_QuickRollout)->Unit(benchmark::kMillisecond);

BENCHMARK(BM_Rollout)
    ->ArgNames({"minutes", "memo"})
    ->ArgsProduct({{0, 240, 60, 15}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace starling
