// SPDX-License-Identifier: Apache-2.0
#include "policies/queues/queue_place.h"

#include <doctest/doctest.h>

#include "policies/testing/full_server.h"

namespace starling {
namespace {

using Told = std::vector<std::string>;

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

}  // namespace
}  // namespace starling
