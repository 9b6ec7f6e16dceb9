// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "policies/elastic/elastic_jobs_test.h"
#include "policies/registry.h"
#include "policies/testing/policy_rig.h"
#include "policies/testing/test_world.h"

namespace starling {
namespace {

TEST_CASE("DRF gives equal jobs equal shares, and what a departure leaves to the other") {
  const Topology topology = servers(2);
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  trace.jobs = {elastic(1, 0, 16, 40'000), elastic(2, 0, 16, 10'000)};
  TestWorld world(topology, registry, "drf", {});
  world.run(trace);
  CHECK(world.faults.empty());
  CHECK(world.resizes >= 1);
  // 8 GPUs do 7.02 times what one does: the short one ends after 1,425 s, the long one, on 16
  // (12.3 times) from the next round at 1,800 s on, after 1,800 + (40,000 - 12,632) / 12.3 s.
  CHECK(seconds(world.jobs[1].finished - Instant{}) == doctest::Approx(1425).epsilon(0.01));
  CHECK(seconds(world.jobs[0].finished - Instant{}) == doctest::Approx(4024).epsilon(0.01));
}

TEST_CASE("drf says what a job's share is, and would be") {
  PolicyRig rig(servers(1), make_policy_registry().make("drf").value());
  rig.submit(elastic(1, 0, 2, 10'000).spec);
  rig.submit(elastic(2, 0, 16, 10'000).spec);
  (void)rig.round();
  CHECK(rig.explain(JobId{1, 1}).at(0) ==
        "policy: it has 2 workers on 2 GPUs, a dominant share of 0.25, and may not have more");
  CHECK(rig.explain(JobId{1, 2}).at(0) ==
        "policy: it has 6 workers on 6 GPUs, a dominant share of 0.75, 0.88 with one more; the "
        "smallest share gets the next worker, and 1 job has a smaller one here");
}

}  // namespace
}  // namespace starling
