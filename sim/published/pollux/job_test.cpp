// SPDX-License-Identifier: Apache-2.0
// Seconds of one job in Pollux' simulated world, reckoned by hand.
#include "sim/published/pollux/job.h"

#include <doctest/doctest.h>

#include "sim/published/pollux/schedulers.h"

using namespace starling;

namespace {

/// Two epochs of 100 steps at a batch of 8, which take a second on one GPU and half of one on two;
/// a batch of 16 makes as much progress a sample as one of 8.
PolluxApplication example() {
  StepTables steps;
  for (const std::uint32_t local : {8U, 16U}) {
    steps.add_placement("1", local, {local / 8.0, 0.0});
    steps.add_placement("2", local, {local / 8.0 + 0.5, 0.5});
    steps.add_placement("11", local, {local / 8.0 + 1, 1.0});
  }
  steps.finish();
  const std::vector<PolluxApplication::EpochRow> rows = {{100, 100, {0, 1}}, {200, 200, {0, 1}}};
  std::vector<PolluxApplication::EpochRow> larger = rows;
  for (auto& row : larger) row.iteration /= 2;
  return {"example", std::move(steps), {{8, rows}, {16, larger}}};
}

}  // namespace

TEST_CASE("a job waits 30 s at each start, and ends in the second that its last epoch does") {
  const PolluxApplication application = example();
  PolluxJob job({"a", 0, 1, 8}, application);
  job.advance(60, 0);
  CHECK(job.gpu_seconds() == 0);
  job.place({3});
  job.advance(60, 0);
  CHECK(job.gpu_seconds() == 60);
  CHECK(job.epoch() == 0);
  job.place({4});  // 30 of 200 steps are done
  CHECK(job.restarts() == 1);
  for (int round = 0; round < 3; ++round) job.advance(60, 0);
  CHECK(job.epoch() == 1);
  CHECK(!job.completed_s());
  job.advance(60, 0);
  REQUIRE(job.completed_s());
  CHECK(*job.completed_s() == 60 + 60 + 30 + 170);
  CHECK(job.gpu_seconds() == 60 + 30 + 170);
}

TEST_CASE("what is left of a restart goes on in the next round") {
  const PolluxApplication application = example();
  PolluxJob job({"a", 0, 1, 8}, application);
  job.place({0});
  job.advance(20, 0);
  job.advance(20, 0);
  job.advance(190, 0);
  REQUIRE(job.completed_s());
  CHECK(*job.completed_s() == 30 + 200);
}

TEST_CASE("progress is gain over step time, and gangs that meet lose some of it") {
  const PolluxApplication application = example();
  // 16 samples a step of 1.5 s, which bring two steps of 8.
  PolluxJob job({"a", 0, 2, 16}, application);
  job.place({0, 0});
  job.advance(30 + 150, 0);
  REQUIRE(job.completed_s());
  CHECK(*job.completed_s() == 180);
  PolluxJob slowed({"a", 0, 2, 16}, application);
  slowed.place({0, 0});
  slowed.advance(30 + 150, 0.5);
  CHECK(!slowed.completed_s());
  CHECK(slowed.epoch() == 1);
}

TEST_CASE("Tiresias runs the jobs that there is room for in the order of its queues") {
  const PolluxApplication application = example();
  const PolluxCluster cluster{1, 4, 60, 0};
  std::vector<PolluxJob> jobs;
  for (const std::uint32_t replicas : {2U, 2U, 1U})
    jobs.emplace_back(PolluxJob::Asked{"j", 0, replicas, 16}, application);
  TiresiasThere tiresias(cluster);
  const auto jct = run_pollux_cluster(cluster, std::move(jobs), tiresias);
  // The first two take all; the third starts in the round after they end.
  CHECK(jct == std::vector<std::int64_t>{60 + 180, 60 + 180, 240 + 30 + 200});
}
