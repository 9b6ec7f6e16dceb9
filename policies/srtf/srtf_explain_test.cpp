// SPDX-License-Identifier: Apache-2.0
#include "policies/srtf/srtf_explain.h"

#include <doctest/doctest.h>

#include "policies/testing/full_server.h"

namespace starling {
namespace {

using Told = std::vector<std::string>;

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
