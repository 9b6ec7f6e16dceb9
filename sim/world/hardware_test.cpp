// SPDX-License-Identifier: Apache-2.0
#include "sim/world/hardware.h"

#include <doctest/doctest.h>

#include "sim/world/hardware_bench_test.h"

// The hardware decides when a job ends. Each test states a way in which a duration, a share of the
// service or a GPU could get lost.

namespace starling {
namespace {

using namespace std::chrono_literals;
using Bench = HardwareBench;

TEST_CASE(
    "a gang on two executors moves when it is whole and ends on both at once, to the nanosecond") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(3, 1), Bench::gpus(3, 2)).ok());
  b.run_until(at(7s));
  REQUIRE(b.start(1, Bench::attempt(1), Bench::gpus(4, 1), Bench::gpus(3, 2)).ok());
  CHECK(b.hardware->moving_gangs() == 1);
  CHECK(b.hardware->busy_gpus() == 2);
  b.run_until(at(107s) - 1ns);
  CHECK(b.hardware->reap(0).empty());
  b.run_until(at(107s));
  for (const std::uint32_t executor : {0U, 1U}) {
    const std::vector<Exit> ended = b.hardware->reap(executor);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].exit.code == 0);
    CHECK(ended[0].served == 100s);
  }
  CHECK(b.hardware->busy_gpus() == 0);
  CHECK(b.hardware->jobs()[0].completed == at(107s));
}

TEST_CASE("a job's own restore time stands for the usual start, and its save for the stop before") {
  const auto ends = [](const RunDetails& run, double startup) {
    Bench b(true, startup);
    LaunchSpec spec;
    spec.attempt = Bench::attempt(1);
    spec.gpus = Bench::gpus(0, 2);
    spec.gang = {{PartitionId{0}, spec.gpus}};
    spec.spec.workers = 2;
    spec.spec.run = run;
    REQUIRE(b.hardware->start(0, spec).ok());
    b.run_until(at(60s));
    b.hardware->stop(0, spec.attempt);
    (void)b.hardware->reap(0);
    const Duration before = b.hardware->jobs()[0].saved;
    spec.attempt = Bench::attempt(1, 2);
    spec.served = before;
    REQUIRE(b.hardware->start(0, spec).ok());
    b.run_until(at(10'000s));
    return std::pair(before, b.hardware->jobs()[0].completed);
  };
  RunDetails run;
  CHECK(ends(run, 10) == std::pair(Duration(50s), at(60s + 10s + 50s)));
  run.restore = 30s;
  CHECK(ends(run, 10) == std::pair(Duration(30s), at(60s + 30s + 70s)));
  run.save = 5s;
  CHECK(ends(run, 10) == std::pair(Duration(30s), at(60s + 5s + 30s + 70s)));
  CHECK(ends(run, 0).second == at(100s));  // where starts cost nothing
}

TEST_CASE("a gang gets on as its allocation says, alone and beside others") {
  Bench b(true);
  LaunchSpec spec;
  spec.attempt = Bench::attempt(1);
  spec.gpus = Bench::gpus(0, 2);
  spec.gang = {{PartitionId{0}, spec.gpus}};
  spec.spec.workers = 2;
  spec.allocation = {2, 0, 0, 3, false};
  REQUIRE(b.hardware->start(0, spec).ok());
  CHECK(b.hardware->processes().front().allocation == spec.allocation);
  b.run_until(at(10s));
  CHECK(b.hardware->measure(0).front().rate == 4);
  REQUIRE(b.start(0, Bench::attempt(2), Bench::gpus(2, 2), Bench::gpus(2, 2)).ok());
  b.run_until(at(40s));  // 10 s at 4, 30 s at 2
  CHECK(b.hardware->jobs()[0].completed == at(40s));
  b.run_until(at(1000s));
  CHECK(b.hardware->jobs()[1].completed == at(125s));  // 30 s at 1/2
}

TEST_CASE("stopping keeps what was served, and the next attempt goes on there") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  b.run_until(at(30s));
  b.hardware->stop(0, Bench::attempt(1));
  b.hardware->stop(0, Bench::attempt(1));  // a repeat changes nothing
  const std::vector<Exit> ended = b.hardware->reap(0);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].exit.code != 0);
  CHECK(ended[0].served == 30s);
  REQUIRE(b.start(0, Bench::attempt(1, 2), Bench::gpus(0, 2), Bench::gpus(0, 2), 30s).ok());
  b.run_until(at(100s) - 1ns);
  CHECK(b.hardware->reap(0).empty());
  b.run_until(at(100s));
  CHECK(b.hardware->reap(0).size() == 1);
  CHECK(b.hardware->jobs()[0].service == 100s);
  CHECK(b.hardware->jobs()[0].attempts == 2);
}

TEST_CASE("a gang of which one part alone was started was tried, and never whole") {
  Bench b(false);
  CHECK_FALSE(b.hardware->jobs()[0].tried);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 1), {GpuId{0}, GpuId{4}}).ok());
  CHECK(b.hardware->jobs()[0].tried);
  CHECK(b.hardware->jobs()[0].attempts == 0);
}

TEST_CASE("work goes on from what was saved, whatever a scheduler says") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  b.run_until(at(30s));
  const auto again = [&](Duration claimed) {
    (void)b.hardware->reap(0);
    REQUIRE(b.start(0, Bench::attempt(1, 2), Bench::gpus(0, 2), Bench::gpus(0, 2), claimed).ok());
    b.run_until(at(1000s));
  };
  SUBCASE("that it has done less") {
    b.hardware->stop(0, Bench::attempt(1));
    again(10s);
    CHECK(b.hardware->overclaimed().empty());
    CHECK(b.hardware->jobs()[0].completed == at(100s));
  }
  SUBCASE("that it has done more") {
    b.hardware->stop(0, Bench::attempt(1));
    again(31s);
    CHECK(b.hardware->overclaimed().find("31.0") != std::string::npos);
    CHECK(b.hardware->jobs()[0].completed == at(100s));
  }
  SUBCASE("that it has done what a loss of power undid") {
    b.hardware->lose_host(0);
    again(30s);
    CHECK_FALSE(b.hardware->overclaimed().empty());
    CHECK(b.hardware->jobs()[0].completed == at(130s));
  }
}

TEST_CASE("an observer sees every end, and whether it was wanted") {
  Bench b(false);
  std::vector<std::pair<std::int32_t, bool>> ends;
  b.hardware->on_end([&](const SimProcess& process, std::int32_t code, bool stopped) {
    CHECK(process.gpus.size() == 2);
    ends.emplace_back(code, stopped);
  });
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  REQUIRE(b.start(0, Bench::attempt(2), Bench::gpus(2, 2), Bench::gpus(2, 2)).ok());
  b.run_until(at(30s));
  b.hardware->stop(0, Bench::attempt(2));
  b.run_until(at(100s));
  CHECK(ends == std::vector<std::pair<std::int32_t, bool>>{{-15, true}, {0, false}});
}

TEST_CASE("a gang that lost a process stands still") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(3, 1), Bench::gpus(3, 2)).ok());
  REQUIRE(b.start(1, Bench::attempt(1), Bench::gpus(4, 1), Bench::gpus(3, 2)).ok());
  b.run_until(at(10s));
  b.hardware->stop(0, Bench::attempt(1));
  b.run_until(at(500s));
  CHECK(b.hardware->reap(1).empty());
  b.hardware->stop(1, Bench::attempt(1));
  const std::vector<Exit> ended = b.hardware->reap(1);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].served == 10s);
  CHECK(b.hardware->processes().empty());
}

TEST_CASE("a GPU in use refuses a second process, and that is remembered") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  CHECK(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());  // a repeat
  CHECK(b.hardware->overlap().empty());
  CHECK_FALSE(b.start(0, Bench::attempt(2), Bench::gpus(1, 2), Bench::gpus(1, 2)).ok());
  CHECK_FALSE(b.hardware->overlap().empty());
  CHECK(b.hardware->processes().size() == 1);
}

TEST_CASE(
    "two jobs share a GPU where they may: it is busy once, both slow down, a third is refused") {
  Bench b(true, 0, 2);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  REQUIRE(b.start(0, Bench::attempt(2), Bench::gpus(1, 2), Bench::gpus(1, 2)).ok());
  CHECK(b.hardware->busy_gpus() == 3);
  CHECK(b.hardware->overlap().empty());
  CHECK_FALSE(b.start(0, Bench::attempt(2, 2), Bench::gpus(1, 1), Bench::gpus(1, 1)).ok());
  CHECK_FALSE(b.hardware->overlap().empty());
  b.run_until(at(200s) - 1us);
  CHECK(b.hardware->moving_gangs() == 2);
  b.run_until(at(200s) + 1us);
  CHECK(b.hardware->busy_gpus() == 0);
}

TEST_CASE("where physics varies, a neighbour slows a gang for as long as it is there") {
  Bench b(true);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  b.run_until(at(20s));  // 20 s of service
  REQUIRE(b.start(0, Bench::attempt(2), Bench::gpus(2, 2), Bench::gpus(2, 2)).ok());
  b.run_until(at(60s));  // 20 s more each, at half speed
  b.hardware->stop(0, Bench::attempt(2));
  CHECK(b.hardware->jobs()[1].service == 20s);
  REQUIRE(b.hardware->measure(0).size() == 1);
  CHECK(b.hardware->measure(0)[0].served == 40s);
  CHECK(b.hardware->measure(0)[0].rate == 1);
  b.run_until(at(120s) - 1us);
  CHECK(b.hardware->reap(0).size() == 1);  // the stopped one
  b.run_until(at(120s) + 1us);             // 60 s were left
  CHECK(b.hardware->reap(0).size() == 1);
}

TEST_CASE("a spread gang is slower, and nothing moves before its start is over") {
  Bench b(true, 5);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(3, 1), Bench::gpus(3, 2)).ok());
  REQUIRE(b.start(1, Bench::attempt(1), Bench::gpus(4, 1), Bench::gpus(3, 2)).ok());
  CHECK(b.hardware->left(JobId{0, 1}).work == 100s);
  CHECK(b.hardware->left(JobId{0, 1}).from == at(5s));
  b.run_until(at(105s));  // half as fast
  CHECK(b.hardware->left(JobId{0, 1}).work == 50s);
  CHECK(b.hardware->left(JobId{0, 1}).from == at(105s));
  CHECK(b.hardware->left(JobId{0, 2}).work == 100s);
  b.run_until(at(205s) - 1us);
  CHECK(b.hardware->moving_gangs() == 1);
  b.run_until(at(205s) + 1us);
  CHECK(b.hardware->moving_gangs() == 0);
}

}  // namespace
}  // namespace starling
