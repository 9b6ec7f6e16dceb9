// SPDX-License-Identifier: Apache-2.0
#include "policies/tiresias/tiresias_explain.h"

#include <doctest/doctest.h>

#include "policies/registry.h"
#include "policies/testing/policy_rig.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

TEST_CASE("Tiresias says in which queue a job is, and when it moves on") {
  for (const char* policy : {"tiresias-las", "tiresias-gittins"}) {
    CAPTURE(policy);
    PolicyRig rig(generate_flat({.servers = 1, .gpus_per_server = 4}).value(),
                  make_policy_registry().make(policy).value());
    JobSpec wide;
    wide.workers = 4;
    rig.submit(wide);
    (void)rig.settle(TriggerKind::arrival);
    rig.pass(std::chrono::seconds(60));
    const JobId runs{1, 1};
    const JobId waits = rig.submit(wide).spec->id;
    CHECK(rig.explain(runs).at(0) ==
          "policy: it has had 240 GPU-seconds of service: queue 1 of 2; it moves on at 3600 "
          "GPU-seconds, after 840 s more on its 4 GPUs");
    const auto lines = rig.explain(waits);
    CHECK(lines.at(0).starts_with("policy: it has had 0 GPU-seconds of service: queue 1 of 2; "));
    CHECK(lines.back() ==
          "policy: number 1 of 1 that wait, by queue, then submission: it is in queue 1");
    rig.pass(std::chrono::seconds(1000));
    CHECK(rig.explain(runs).at(0) ==
          "policy: it has had 4240 GPU-seconds of service: queue 2 of 2, the last");
    const bool by_index = std::string(policy) == "tiresias-gittins";
    REQUIRE(lines.size() == (by_index ? 3 : 2));
    if (by_index)
      CHECK(lines[1] == "  by index once 32 jobs have ended here; until then by submission");
  }
}

TEST_CASE("a Gittins index is told by the GPU hour") {
  JobSpec spec;
  JobView job;
  job.spec = &spec;
  const TiresiasStanding last{1, 2, 5000, {}};
  CHECK(explain_tiresias(job, last, GittinsStanding{true, 2.0 / 3600}).at(1) ==
        "  its index is 2: of past jobs that had had as much, so many ended within this queue for "
        "each GPU hour that they took there");
  CHECK(explain_tiresias(job, last, GittinsStanding{true, 0}).at(1) ==
        "  its index is 0: no past job that had had as much ended within this queue");
}

}  // namespace
}  // namespace starling
