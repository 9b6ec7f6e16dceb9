#include "policies/elastic.h"

#include <doctest/doctest.h>

#include "policies/test_world.h"
#include "topology/generate.h"

namespace starling {
namespace {

Topology servers(std::uint32_t count) {
  GeneratorOptions options;
  options.groups = {{count, "V100"}};
  return generate_flat(options).value();
}

TraceJob elastic(std::uint64_t id, double submit, std::uint32_t most, double duration) {
  TraceJob job;
  job.submit = from_seconds(submit);
  job.spec.id = JobId{1, id};
  job.spec.min_workers = 1;
  job.spec.max_workers = most;
  job.spec.duration = from_seconds(duration);
  return job;
}

TEST_CASE("workers go evenly onto the fewest servers that hold them") {
  const Topology topology = servers(3);
  Occupancy gpus(topology, {0, 3});
  JobSpec job;
  CHECK(place_evenly(gpus, job, 8)->size() == 8);
  const Placement twelve = place_evenly(gpus, job, 12).value();
  std::uint32_t first = 0;
  for (const GpuId gpu : twelve) first += topology.server_of(gpu).value == 0 ? 1 : 0;
  CHECK(first == 6);
  gpus.take(gpus.free_gpus(ServerId{0}, 3));
  CHECK(topology.server_of(place_evenly(gpus, job, 6)->front()).value == 1);
  CHECK(!place_evenly(gpus, job, 22).has_value());
}

TEST_CASE("DRF gives equal jobs equal shares, and what a departure leaves to the other") {
  const Topology topology = servers(2);
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  trace.jobs = {elastic(1, 0, 16, 40'000), elastic(2, 0, 16, 10'000)};
  std::vector<std::size_t> sizes;
  TestWorld world(topology, registry, "drf", {});
  world.run(trace);
  CHECK(world.faults.empty());
  CHECK(world.resizes >= 1);
  // 8 GPUs do 7.02 times what one does: the short one ends after 1,425 s, the long one, on 16
  // (12.3 times) from the next round at 1,800 s on, after 1,800 + (40,000 - 12,632) / 12.3 s.
  CHECK(seconds(world.jobs[1].finished - Instant{}) == doctest::Approx(1425).epsilon(0.01));
  CHECK(seconds(world.jobs[0].finished - Instant{}) == doctest::Approx(4024).epsilon(0.01));
}

TEST_CASE("Optimus gives more to whoever has more left, so that all end sooner than by DRF") {
  const Topology topology = servers(2);
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  trace.jobs = {elastic(1, 0, 16, 40'000), elastic(2, 0, 16, 10'000)};
  double end[2] = {};
  const char* names[] = {"drf:round=60", "optimus:round=60"};
  for (int i = 0; i < 2; ++i) {
    TestWorld world(topology, registry, names[i], {});
    world.run(trace);
    CHECK(world.faults.empty());
    end[i] = world.makespan_s();
    MESSAGE(std::string(names[i]) << ": makespan " << end[i] << " s, JCT " << world.mean_jct_s()
                                  << " s, " << world.resizes << " resizes");
  }
  CHECK(end[1] < end[0]);
}

}  // namespace
}  // namespace starling
