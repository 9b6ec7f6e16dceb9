// SPDX-License-Identifier: Apache-2.0
#include "gnn/search/rollout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "policies/registry.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using std::chrono::seconds;

// A job that shares a GPU runs at a half; on two servers at 0.8.
struct Halves final : SpeedModel {
  const Topology& topology;
  explicit Halves(const Topology& t) : topology(t) {}
  [[nodiscard]] Speed speed(const JobProfile&, const Placement& placement,
                            const Neighbours& beside) const override {
    double speed =
        topology.server_of(placement.front()) == topology.server_of(placement.back()) ? 1 : 0.8;
    for (const Neighbour& other : beside) {
      const bool shares = std::any_of(placement.begin(), placement.end(), [&](GpuId gpu) {
        return std::binary_search(other.placement.begin(), other.placement.end(), gpu);
      });
      if (shares) speed *= 0.5;
    }
    return {speed, 0};
  }
};

Placement gpus(std::initializer_list<std::uint32_t> ids) {
  Placement placement;
  for (const std::uint32_t id : ids) placement.emplace_back(id);
  return placement;
}

// Two servers of two GPUs, and jobs that wait or run there at 1000 s.
struct Bench {
  Topology topology = generate_leaf_spine({.servers = 2, .gpus_per_server = 2}).value();
  Halves speed{topology};
  Occupancy occupancy{topology, {0, 2}, 2};
  PolicyRegistry registry = make_policy_registry();
  std::vector<std::unique_ptr<JobSpec>> specs;
  std::vector<JobView> waiting, running;
  RolloutFuture future;

  JobSpec job(std::uint64_t id, std::uint32_t workers) {
    JobSpec spec;
    spec.id = {1, id};
    spec.workers = workers;
    return spec;
  }
  JobView view(std::uint64_t id, std::uint32_t workers) {
    specs.push_back(std::make_unique<JobSpec>(job(id, workers)));
    JobView out;
    out.spec = specs.back().get();
    out.order = id;
    return out;
  }
  void wait(std::uint64_t id, std::uint32_t workers, double work_s) {
    waiting.push_back(view(id, workers));
    future.waiting_s.push_back(work_s);
  }
  void run(std::uint64_t id, Placement placement, double work_s) {
    running.push_back(view(id, static_cast<std::uint32_t>(placement.size())));
    occupancy.take(placement);
    running.back().placement = std::move(placement);
    future.running_s.push_back(work_s);
  }
  void come(std::uint64_t id, std::uint32_t workers, int after_s, double work_s) {
    future.arrivals.push_back({seconds(after_s), job(id, workers), work_s});
  }
  [[nodiscard]] RolloutStart start(const RolloutWorld& world = {}) const {
    const View view{topology, occupancy, waiting, running, {}, speed, Instant{seconds(1000)}, {}};
    return {view, future, world};
  }
  [[nodiscard]] double cost(const RolloutStart& from, const std::string& policy,
                            const std::vector<FirstDecision>& first = {},
                            const RolloutLimits& limits = {}) {
    const auto made = registry.make(policy).value();
    return rollout.run(from, first, *made, limits).cost_s;
  }
  Rollout rollout;
};

FirstDecision put(std::uint64_t id, Placement where) { return {{1, id}, std::move(where)}; }
FirstDecision hold(std::uint64_t id) { return {{1, id}, std::nullopt}; }

TEST_CASE("the cost is the completion time that remains, by hand") {
  Bench b;
  b.run(1, gpus({0, 1}), 100);
  b.run(2, gpus({2}), 30);
  b.wait(3, 2, 50);     // from 30 on GPUs 2 and 3
  b.come(4, 1, 10, 5);  // at once on GPU 3, which is free
  CHECK(b.cost(b.start(), "fifo:queue=skip") == doctest::Approx(100 + 30 + 80 + 5));
  // Strict: behind job 3, when job 1 has ended as well.
  CHECK(b.cost(b.start(), "fifo:queue=strict") == doctest::Approx(100 + 30 + 80 + 75));
  const RolloutStart start = b.start();
  const auto fifo = b.registry.make("fifo:queue=skip").value();
  const RolloutResult result = b.rollout.run(start, {}, *fifo);
  CHECK(result.complete);
  CHECK(result.events == 4 + 1 + 2);
  CHECK(b.rollout.ended()[0] == Instant{seconds(1080)});
  CHECK(b.rollout.ended()[3] == Instant{seconds(1015)});
}

TEST_CASE("jobs that share a GPU slow each other down for as long as both run") {
  Bench b;
  b.run(1, gpus({0, 1}), 100);
  b.wait(2, 2, 40);
  // Both at a half until 80 s; then 60 s of work are left of the first.
  CHECK(b.cost(b.start(), "fifo", {put(2, gpus({0, 1}))}) == doctest::Approx(80 + 140));
  CHECK(b.cost(b.start(), "fifo", {put(2, gpus({2, 3}))}) == doctest::Approx(40 + 100));
  CHECK(b.cost(b.start(), "fifo", {put(2, gpus({1, 2}))}) > 140);
}

TEST_CASE("a held job waits for the next event, the others do not") {
  Bench b;
  b.run(1, gpus({0, 1}), 100);
  b.wait(2, 2, 40);
  b.come(3, 1, 7, 1);
  CHECK(b.cost(b.start(), "fifo") == doctest::Approx(100 + 40 + 34));
  // Job 2 starts when job 3 comes, being ahead of it.
  CHECK(b.cost(b.start(), "fifo", {hold(2)}) == doctest::Approx(100 + 47 + 41));
  b.wait(4, 2, 10);
  CHECK(b.cost(b.start(), "fifo:queue=skip", {hold(2)}) == doctest::Approx(100 + 50 + 10 + 44));
}

TEST_CASE("what cannot be forced costs infinity") {
  Bench b;
  b.run(1, gpus({0}), 100);
  b.wait(2, 2, 40);
  constexpr double kForever = std::numeric_limits<double>::infinity();
  CHECK(b.cost(b.start(), "fifo", {put(3, gpus({2, 3}))}) == kForever);
  CHECK(b.cost(b.start(), "fifo", {put(2, gpus({2}))}) == kForever);
  CHECK(b.cost(b.start(), "fifo", {put(2, gpus({3, 2}))}) == kForever);
  CHECK(b.cost(b.start(), "fifo", {put(1, gpus({1, 2}))}) == kForever);
  CHECK(b.cost(b.start(), "fifo", {hold(1)}) == kForever);
  CHECK(b.cost(b.start(), "fifo", {put(2, gpus({2, 3})), put(2, gpus({2, 3}))}) == kForever);
  b.run(5, gpus({3}), 100);
  b.run(6, gpus({3}), 100);
  CHECK(b.cost(b.start(), "fifo", {put(2, gpus({2, 3}))}) == kForever);
}

TEST_CASE("limits end a roll-out: a bound, a horizon, a number of events") {
  Bench b;
  b.run(1, gpus({0, 1, 2, 3}), 100);
  b.wait(2, 4, 40);
  const RolloutStart start = b.start();
  CHECK(b.cost(start, "fifo") == doctest::Approx(125 + 175));
  CHECK(b.cost(start, "fifo", {}, {.cost_s = 300.1}) == doctest::Approx(300));
  CHECK(b.cost(start, "fifo", {}, {.cost_s = 299}) == std::numeric_limits<double>::infinity());
  // The rest is estimated: the waiting job follows the running one, at full speed.
  CHECK(b.cost(start, "fifo", {}, {.horizon = seconds(10)}) == doctest::Approx(125 + 165));
  CHECK(b.cost(start, "fifo", {}, {.cost_s = 289, .horizon = seconds(10)}) ==
        std::numeric_limits<double>::infinity());
  const auto fifo = b.registry.make("fifo").value();
  CHECK_FALSE(b.rollout.run(start, {}, *fifo, {.horizon = seconds(10)}).complete);
  CHECK(b.rollout.run(start, {}, *fifo, {.events = 1}).events <= 2);
}

TEST_CASE("a start takes its time, during which nothing is done") {
  Bench b;
  b.wait(1, 1, 40);
  const RolloutWorld world{
      .startup_s = [](const JobSpec&, const JobProfile&, Duration) { return 15.0; }};
  CHECK(b.cost(b.start(world), "fifo") == doctest::Approx(55));
  // What runs already has started.
  b.run(2, gpus({3}), 10);
  CHECK(b.cost(b.start(world), "fifo") == doctest::Approx(65));
}

TEST_CASE("a job that no partition can start does not go on for ever") {
  Bench b;
  b.wait(1, 5, 40);
  b.run(2, gpus({3}), 10);
  const RolloutStart start = b.start();
  const auto fifo = b.registry.make("fifo:queue=skip").value();
  const RolloutResult result = b.rollout.run(start, {}, *fifo);
  CHECK_FALSE(result.complete);
  CHECK(result.cost_s == doctest::Approx(20));
}

// Looks at all that the real one is shown.
struct Watch final : Policy {
  std::unique_ptr<Policy> real;
  std::size_t most = 0;
  explicit Watch(std::unique_ptr<Policy> policy) : real(std::move(policy)) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return real->facts(); }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override {
    std::vector<std::uint32_t> tenants(view.gpus.gpus().size());
    for (const JobView& job : view.running) {
      for (const GpuId gpu : job.placement) ++tenants[gpu.value];
    }
    for (std::uint32_t gpu = 0; gpu < tenants.size(); ++gpu) {
      CHECK(tenants[gpu] == view.gpus.tenants(GpuId{gpu}));
      CHECK(tenants[gpu] <= 2);
    }
    CHECK(std::is_sorted(view.waiting.begin(), view.waiting.end(),
                         [](const JobView& a, const JobView& b) { return a.order < b.order; }));
    most = std::max(most, view.running.size());
    return real->decide(view, trigger, rng);
  }
};

TEST_CASE("every job ends once, no GPU is over its limit, and it is the same again") {
  Bench b;
  Rng rng(5);
  b.run(1, gpus({0, 1}), 300);
  b.run(2, gpus({1, 2}), 200);
  for (std::uint64_t id = 10; id < 20; ++id) b.wait(id, 1 + rng.below(4), 1 + rng.below(500));
  int at = 0;
  for (std::uint64_t id = 20; id < 120; ++id) {
    at += static_cast<int>(rng.below(60));
    b.come(id, 1 + rng.below(4), at, 1 + rng.below(200));
  }
  const RolloutStart start = b.start();
  double last = 0;
  for (const std::string policy : {"lif:threshold=0.3", "lif", "fifo", "smart-greedy"}) {
    CAPTURE(policy);
    Watch watch(b.registry.make(policy).value());
    const RolloutResult result = b.rollout.run(start, {}, watch);
    CHECK(result.complete);
    CHECK(result.events == 10 + 100 + 100 + 112);
    double sum = 0;
    for (std::size_t row = 0; row < start.jobs().size(); ++row) {
      REQUIRE(b.rollout.ended()[row] != kNever);
      const Instant from = std::max(start.now(), start.jobs()[row].submitted);
      sum += starling::seconds(b.rollout.ended()[row] - from);
    }
    CHECK(result.cost_s == doctest::Approx(sum));
    CHECK(b.cost(start, policy) == result.cost_s);
    CHECK(b.cost(b.start(), policy) == result.cost_s);
    CHECK(result.cost_s != last);
    last = result.cost_s;
  }
}

}  // namespace
}  // namespace starling
