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

}  // namespace
}  // namespace starling
