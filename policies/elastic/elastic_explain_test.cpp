// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/elastic_explain.h"

#include <doctest/doctest.h>

#include "policies/elastic/elastic_jobs_test.h"
#include "policies/registry.h"
#include "policies/testing/policy_rig.h"

namespace starling {
namespace {

JobSpec needs_all() {
  JobSpec job;
  job.workers = 8;
  job.duration = std::chrono::hours(1);
  return job;
}

TEST_CASE("drf and optimus say what a job that waits needs at least, and who is served before") {
  for (const char* policy : {"drf", "optimus"}) {
    CAPTURE(policy);
    PolicyRig rig(servers(1), make_policy_registry().make(policy).value());
    rig.submit(elastic(1, 0, 16, 10'000).spec);
    const JobId waits = rig.submit(needs_all()).spec->id;
    CHECK(rig.explain(waits).empty());  // nothing was decided yet
    (void)rig.round();
    CHECK(rig.explain(waits) ==
          std::vector<std::string>{
              "policy: it needs at least 8 workers on 8 GPUs, a dominant share of 1.00; a round "
              "serves 1 job before it, by priority and submission, whose least is 1 of 8 GPUs"});
    CHECK(rig.explain(rig.submit(needs_all()).spec->id).empty());  // nor of this one
  }
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
