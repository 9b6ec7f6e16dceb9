// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "interference/models.h"
#include "policies/elastic/elastic_jobs_test.h"
#include "policies/elastic/elastic_speeds_test.h"
#include "policies/registry.h"
#include "policies/testing/policy_rig.h"
#include "policies/testing/test_world.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

TEST_CASE("Optimus gives more to jobs that have more left, so that all end sooner than by DRF") {
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

TEST_CASE("Optimus stops where more workers make a job slower; DRF does not know") {
  const Topology topology = servers(1);
  const PolicyRegistry registry = make_policy_registry();
  const EarlyPeak peak;
  Trace trace;
  trace.jobs = {elastic(1, 0, 8, 1800)};
  TestWorld::Options options;
  options.model = &peak;
  TestWorld optimus(topology, registry, "optimus", options);
  optimus.run(trace);
  CHECK(optimus.makespan_s() == doctest::Approx(1000));
  TestWorld drf(topology, registry, "drf", options);
  drf.run(trace);
  CHECK(drf.makespan_s() == doctest::Approx(1800 / 1.1));
}

TEST_CASE("Optimus does not stop a job for less than a restart costs") {
  const Topology topology = servers(1);
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  // The second leaves 4 GPUs to the first, which has 30 s left by then.
  trace.jobs = {elastic(1, 0, 8, 3770), elastic(2, 0, 8, 3650)};
  TestWorld patient(topology, registry, "optimus:round=60", {});
  patient.run(trace);
  TestWorld eager(topology, registry, "optimus:round=60,restart=0", {});
  eager.run(trace);
  CHECK(patient.faults.empty());
  CHECK(patient.resizes < eager.resizes);
}

TEST_CASE("Optimus that may choose batches ends jobs sooner that gain by larger ones") {
  const Topology topology = servers(2);
  const PolicyRegistry registry = make_policy_registry();
  FullPhysicsOptions noisy;
  noisy.goodput = true;
  const auto physics = make_full_physics(topology, noisy);
  const auto model = make_true_speed(*physics);
  TestWorld::Options options;
  options.model = model.get();
  Trace trace;
  trace.jobs = {elastic(1, 0, 8, 20'000), elastic(2, 0, 8, 20'000)};
  trace.jobs[0].spec.model = "nobody's";
  trace.jobs[1].spec.model = "bert-base";
  double ends[2] = {}, alone[2] = {};
  const char* names[] = {"optimus", "optimus:batch=free"};
  for (int i = 0; i < 2; ++i) {
    TestWorld world(topology, registry, names[i], options);
    world.run(trace);
    CHECK(world.faults.empty());
    ends[i] = seconds(world.jobs[1].finished - Instant{});
    MESSAGE(std::string(names[i]) << ": bert-base ends after " << ends[i] << " s");
    TestWorld unknown(topology, registry, names[i], options);
    Trace one;
    one.jobs = {trace.jobs.front()};
    unknown.run(one);
    alone[i] = unknown.mean_jct_s();
  }
  CHECK(ends[1] < 0.9 * ends[0]);
  CHECK(alone[1] == alone[0]);  // one whose noise is not known runs as it asks
}

TEST_CASE("Optimus takes the faster GPU type where there is room on it") {
  GeneratorOptions generated;
  generated.groups = {{1, "K80"}, {1, "V100"}};
  const Topology topology = generate_flat(generated).value();
  const TwoTypes model(topology);
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  trace.jobs = {elastic(1, 0, 1, 1000)};
  TestWorld::Options options;
  options.model = &model;
  TestWorld world(topology, registry, "optimus", options);
  world.run(trace);
  CHECK(world.makespan_s() == doctest::Approx(1000));
}

TEST_CASE("optimus says what one more worker counts, beside the last one that was given") {
  PolicyRig rig(servers(1), make_policy_registry().make("optimus").value());
  rig.submit(elastic(1, 0, 16, 40'000).spec);
  rig.submit(elastic(2, 0, 2, 10'000).spec);
  (void)rig.round();
  const std::string grows = rig.explain(JobId{1, 1}).at(0);
  CAPTURE(grows);
  CHECK(grows.starts_with("policy: it has 6 workers on 6 GPUs; one more counts "));
  CHECK(grows.find("; the last one given counted ") != std::string::npos);
  CHECK(rig.explain(JobId{1, 2}).at(0) ==
        "policy: it has 2 workers on 2 GPUs, and may not have more");
}

}  // namespace
}  // namespace starling
