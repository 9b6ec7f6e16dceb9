// Tetris and least interference first: where they put one job, and whom they take first.
#include <doctest/doctest.h>

#include "policies/registry.h"
#include "topology/generate.h"

namespace starling {
namespace {

/// Servers other than 1 are slow.
struct SlowElsewhere final : SpeedModel {
  [[nodiscard]] Speed speed(const JobProfile&, const Placement& placement,
                            const Neighbours& beside) const override {
    for (const GpuId gpu : placement) {
      if (gpu.value / 8 != 1) return {0.25, 0};
    }
    return {beside.empty() ? 1.0 : 0.5, 0};
  }
};

struct Scene {
  Topology topology;
  Occupancy gpus;
  std::vector<JobSpec> specs;
  std::vector<JobView> waiting, running;
  SlowElsewhere speed;

  explicit Scene(std::uint32_t servers) : topology(make(servers)), gpus(topology, {0, servers}) {
    specs.reserve(16);
  }
  static Topology make(std::uint32_t servers) {
    GeneratorOptions options;
    options.groups = {{servers, "V100"}};
    options.cpus = 64;
    return generate_flat(options).value();
  }
  JobSpec& add(std::uint32_t count, double cpus, Placement runs = {}) {
    JobSpec spec;
    spec.id = JobId{1, specs.size() + 1};
    spec.gpus_per_worker = count;
    spec.cpus_per_worker = cpus;
    spec.duration = std::chrono::seconds(1000);
    specs.push_back(spec);
    JobView view;
    view.spec = &specs.back();
    view.order = specs.size();
    if (!runs.empty()) gpus.take(runs);
    view.placement = std::move(runs);
    (view.placement.empty() ? waiting : running).push_back(view);
    return specs.back();
  }
  std::vector<Start> starts(const std::string& policy) {
    const auto made = make_policy_registry().make(policy);
    REQUIRE(made.ok());
    const View view{topology, gpus, waiting, running, {}, speed, Instant{}, AgentId{0}};
    Rng rng(1);
    std::vector<Start> out;
    for (const Decision& d : made.value()->decide(view, {}, rng)) out.push_back(std::get<Start>(d));
    return out;
  }
};

TEST_CASE("lif goes where the model predicts the most speed, not where it is tightest") {
  Scene scene(3);
  scene.add(1, 0, {GpuId{0}});  // makes server 0 the tightest
  scene.add(2, 0);
  const auto starts = scene.starts("lif");
  REQUIRE(starts.size() == 1);
  CHECK(scene.topology.server_of(starts[0].placement.front()).value == 1);
}

TEST_CASE("lif waits below its threshold, but not when nothing else runs") {
  Scene busy(2);
  busy.add(1, 0, {GpuId{8}});
  busy.add(4, 0);
  CHECK(busy.starts("lif:threshold=0.4").size() == 1);
  CHECK(busy.starts("lif:threshold=0.6").empty());
  Scene idle(1);
  idle.add(4, 0);
  CHECK(idle.starts("lif:threshold=0.9").size() == 1);
}

TEST_CASE("Tetris takes the demand that aligns with what is free") {
  Scene scene(2);
  scene.add(4, 60, {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}});  // few CPUs are left on server 0
  scene.add(1, 1);
  scene.add(4, 40);  // asks for many CPUs: server 1, and before the small one
  const auto starts = scene.starts("tetris");
  REQUIRE(starts.size() == 2);
  CHECK(starts[0].job == JobId{1, 3});
  CHECK(scene.topology.server_of(starts[0].placement.front()).value == 1);
}

TEST_CASE("Tetris with durations prefers less work of equal jobs") {
  Scene scene(1);
  scene.add(8, 0);
  scene.add(8, 0).duration = std::chrono::seconds(10);
  CHECK(scene.starts("tetris").at(0).job == JobId{1, 1});
  CHECK(scene.starts("tetris:durations=yes").at(0).job == JobId{1, 2});
}

}  // namespace
}  // namespace starling
