// SPDX-License-Identifier: Apache-2.0
#include "policies/queues/queue_place.h"

#include <doctest/doctest.h>

#include "policies/registry.h"
#include "policies/testing/policy_rig.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using Told = std::vector<std::string>;

/// One server of four GPUs; a job has them all.
struct FullServer {
  explicit FullServer(const std::string& policy)
      : rig(generate_flat({.servers = 1, .gpus_per_server = 4}).value(),
            make_policy_registry().make(policy).value()) {
    submit(1000);
    (void)rig.settle(TriggerKind::arrival);
  }
  JobId submit(std::int64_t seconds, std::int32_t priority = 0) {
    JobSpec spec;
    spec.workers = 4;
    spec.duration = std::chrono::seconds(seconds);
    spec.priority = priority;
    return rig.submit(spec).spec->id;
  }
  PolicyRig rig;
};

TEST_CASE("fifo says at which place a job waits, and behind whom") {
  FullServer strict("fifo");
  const JobId first = strict.submit(10), second = strict.submit(10);
  const std::string rule =
      "  no job here starts before one ahead of it that finds no room (queue=strict)";
  CHECK(strict.rig.explain(first) == Told{"policy: number 1 of 2 that wait, by submission", rule});
  CHECK(strict.rig.explain(second) ==
        Told{"policy: number 2 of 2 that wait, by submission, right behind job " + to_string(first),
             rule});
  CHECK(strict.rig.explain(JobId{1, 1}).empty());  // it runs
  FullServer skip("fifo:queue=skip");
  CHECK(skip.rig.explain(skip.submit(10)).back() ==
        "  a job that finds room may start before those ahead of it (queue=skip)");
}

TEST_CASE("sjf says which length it goes by, and where it goes by priority before") {
  FullServer full("sjf");
  const JobId longer = full.submit(300), shorter = full.submit(100), unknown = full.submit(0);
  CHECK(full.rig.explain(shorter).at(0) ==
        "policy: number 1 of 3 that wait, by length, then submission: it takes 100 s by its "
        "estimate");
  CHECK(full.rig.explain(longer).at(0) ==
        "policy: number 2 of 3 that wait, by length, then submission: it takes 300 s by its "
        "estimate; right behind job " +
            to_string(shorter) + ", which takes 100 s by its estimate");
  CHECK(full.rig.explain(unknown).at(0) ==
        "policy: number 3 of 3 that wait, by length, then submission: it does not say how long it "
        "takes; right behind job " +
            to_string(longer) + ", which takes 300 s by its estimate");
  const JobId urgent = full.submit(5000, 7);
  CHECK(full.rig.explain(shorter).at(0) ==
        "policy: number 2 of 4 that wait, by priority, then length, then submission: it takes 100 "
        "s by its estimate; right behind job " +
            to_string(urgent) + ", whose priority is 7");
}

TEST_CASE("srtf says whom it would stop, or why none") {
  FullServer full("srtf");
  const JobId runs{1, 1};
  CHECK(full.rig.explain(runs) ==
        Told{"policy: it has 1000 s left by its estimate; a job that waits and has at most 800 s "
             "left may stop it"});
  const JobId medium = full.submit(900), unknown = full.submit(0), urgent = full.submit(0, 1);
  CHECK(full.rig.explain(medium).at(0).starts_with(
      "policy: number 2 of 3 that wait, by priority, then time left, then submission: it has 900 s "
      "left by its estimate; right behind"));
  CHECK(full.rig.explain(medium).at(1) ==
        "  it stops no job: one with 1125 s left, 1.25 times its own, would do; job " +
            to_string(runs) + " has 1000 s left by its estimate");
  CHECK(full.rig.explain(unknown).at(1) ==
        "  it stops no job of its priority, for it does not say how long it takes");
  CHECK(full.rig.explain(urgent).at(1) == "  it may stop 1 job, first job " + to_string(runs) +
                                              ", which has priority 0, if there is a place for it "
                                              "then");
  const JobId brief = full.submit(100);
  CHECK(full.rig.explain(brief).at(1) ==
        "  it may stop 1 job, first job " + to_string(runs) +
            ", which has 1000 s left by its estimate, if there is a place for it then");
  CHECK(full.rig.decide(TriggerKind::arrival).size() == 1);
  CHECK(full.rig.explain(runs) == Told{"policy: it was told to stop for a shorter job"});
  CHECK(full.rig.explain(brief).back() == "  1 job was told to stop and still runs");
}

}  // namespace
}  // namespace starling
