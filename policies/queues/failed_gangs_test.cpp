// SPDX-License-Identifier: Apache-2.0
// Which jobs a queue passes by unasked: none that would find room.
#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "base/rng.h"
#include "policies/queues/queue_walk.h"
#include "policies/testing/battery.h"
#include "topology/builder.h"

namespace starling {
namespace {

/// A partition of servers that differ in size and type, in part taken, and jobs that wait there.
class Scene {
 public:
  explicit Scene(std::uint64_t seed) : rng_(seed), topology(draw()), gpus(topology, all()) {
    for (std::uint32_t g = 0; g < topology.gpu_count(); ++g) {
      if (rng_.chance(0.4)) gpus.take(Placement{GpuId{g}});
    }
    specs.resize(30);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      JobSpec& spec = specs[i];
      spec.id = JobId{1, i + 1};
      spec.workers = 1 + rng_.below(12);
      spec.gpus_per_worker = rng_.chance(0.6) ? 1 : 2;
      if (rng_.chance(0.2)) std::swap(spec.workers, spec.gpus_per_worker);
      if (rng_.chance(0.5)) spec.gpu_types = {rng_.chance(0.5) ? "V100" : "P100"};
      JobView view;
      view.spec = &spec;
      view.order = i + 1;
      waiting.push_back(view);
    }
  }
  [[nodiscard]] IndexRange all() const { return {0, topology.server_count()}; }

 private:
  Topology draw() {
    TopologyBuilder builder("unequal");
    builder.begin_pod();
    builder.begin_rack();
    const std::uint32_t sizes[] = {1 + rng_.below(8), 1 + rng_.below(4), 1 + rng_.below(4)};
    const std::uint32_t count = 2 + rng_.below(8);
    for (std::uint32_t s = 0; s < count; ++s) {
      Server server;
      server.gpu_type = builder.gpu_type({rng_.chance(0.7) ? "V100" : "P100", 16});
      builder.add_server(server, sizes[rng_.below(3)]);
    }
    return std::move(builder).build();
  }
  Rng rng_;

 public:
  Topology topology;
  Occupancy gpus;
  std::vector<JobSpec> specs;
  std::vector<JobView> waiting;
};

/// Those who start when everybody is asked.
std::vector<std::uint64_t> ask_all(const Scene& scene, Fit fit) {
  Occupancy gpus = scene.gpus;
  std::vector<std::uint64_t> started;
  for (const JobSpec& spec : scene.specs) {
    const auto found = place(gpus, shape_of(gpus), spec, fit);
    if (!found) continue;
    gpus.take(*found);
    started.push_back(spec.id.lo);
  }
  return started;
}

TEST_CASE("servers of any sizes: a queue starts the jobs that it would start if it asked for all") {
  std::map<std::size_t, int> seen;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Scene scene(seed);
    const CrowdedSpeed speed(scene.topology);
    const View view{scene.topology, scene.gpus, scene.waiting, {}, {}, speed, {}, AgentId{0}};
    for (const Fit fit : {Fit::server, Fit::count}) {
      QueueWalk walk({.fit = fit}, [](const JobView&) { return std::int64_t{0}; });
      std::vector<std::uint64_t> started;
      for (const Decision& decision :
           walk.decide(view, false, {.start = [&](Trial&trial, std::vector<Decision>&out) {
                         walk.start_in_order(view, trial, out);
                       }}))
        started.push_back(std::get<Start>(decision).job.lo);
      INFO("seed " << seed);
      REQUIRE(started == ask_all(scene, fit));
      ++seen[started.size()];
    }
  }
  CHECK(seen.size() > 4);
}

}  // namespace
}  // namespace starling
