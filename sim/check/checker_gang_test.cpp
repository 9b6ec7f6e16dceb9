// SPDX-License-Identifier: Apache-2.0
// How large a gang is, and how it runs.
#include <doctest/doctest.h>

#include "sim/check/healthy_world_test.h"

namespace starling {
namespace {

TEST_CASE("S22: the processes of an attempt run by its allocation") {
  HealthyWorld h;
  SUBCASE("a process runs otherwise than was started") {
    h.world.processes[1].allocation = {2, 0, 64, 0, false};
    CHECK(h.caught("S22"));
  }
  SUBCASE("it does so as it asks") {
    const Allocation how{1, 0, 64, 0, false};
    const std::vector<Share> gang = {{PartitionId{1}, gpus({5})}};
    h.accept(kB, kOther.job);
    h.write(kB, AttemptStarting{kOther, gang, how});
    Commit commit;
    commit.attempt = kOther, commit.gang = gang, commit.allocation = how;
    h.write(kB, ShareCommitted{kOther, AgentId{1}, commit});
    h.take(1, kOther, gpus({5}));
    h.world.processes.push_back({kOther, gpus({5}), {}, how});
    CHECK_FALSE(h.caught("S22"));
    CHECK_FALSE(h.checker.violation());
    h.world.processes.back().allocation = {};
    CHECK(h.caught("S22"));
  }
  SUBCASE("a part has been committed otherwise") {
    Commit commit;
    commit.attempt = kOne, commit.allocation = {2, 0, 64, 0, false};
    commit.gang = {{PartitionId{0}, gpus({3})}, {PartitionId{1}, gpus({4})}};
    h.write(kB, ShareCommitted{kOne, AgentId{0}, commit});
    CHECK(h.caught("S22"));
  }
}

TEST_CASE("S23: a gang has a size that its job may have, and is as large for each of its parts") {
  HealthyWorld h;
  const auto start = [&h](Placement here, Placement there) {
    h.accept(kA, kOther.job);
    h.write(kA,
            AttemptStarting{
                kOther, {{PartitionId{0}, std::move(here)}, {PartitionId{1}, std::move(there)}}});
  };
  SUBCASE("as many as it may have") {
    start(gpus({0, 1}), gpus({5, 6}));
    CHECK_FALSE(h.caught("S23"));
    CHECK_FALSE(h.checker.violation());
  }
  SUBCASE("more") {
    start(gpus({0, 1, 2}), gpus({5, 6}));
    CHECK(h.caught("S23"));
  }
  SUBCASE("none") {
    start({}, {});
    CHECK(h.caught("S23"));
  }
  SUBCASE("an owner has written down another gang") {
    h.commit(kB, kOne, {{PartitionId{1}, gpus({4})}});
    CHECK(h.caught("S23"));
  }
}

}  // namespace
}  // namespace starling
