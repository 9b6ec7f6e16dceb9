// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "sim/world/hardware.h"
#include "sim/world/hardware_bench_test.h"

// Processes that start slowly, fail, sleep, or are left alone by their executor: each of them ends,
// and is told of.

namespace starling {
namespace {

using namespace std::chrono_literals;
using Bench = HardwareBench;

TEST_CASE("what is not renewed ends at its deadline on its machine's clock, and GPUs are free") {
  Bench b(false);
  LocalClock slow, right;
  slow.set_rate(at(0s), 0.5);
  b.hardware->set_clock(0, slow);
  b.hardware->set_clock(1, right);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2), {}, at(10s)).ok());
  REQUIRE(b.start(1, Bench::attempt(2), Bench::gpus(4, 2), Bench::gpus(4, 2), {}, at(10s)).ok());
  b.run_until(at(5s));
  b.hardware->renew(1, Bench::attempt(2), at(30s));
  b.hardware->renew(0, Bench::attempt(2), at(1s));  // not its own
  b.run_until(at(20s) - 1ns);
  CHECK(b.hardware->busy_gpus() == 4);
  b.run_until(at(20s));
  CHECK(b.hardware->busy_gpus() == 2);
  const std::vector<Exit> ended = b.hardware->reap(0);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].exit.lost);
  CHECK(ended[0].served == 20s);
  b.hardware->renew(1, Bench::attempt(2), at(25s));
  b.run_until(at(25s));
  CHECK(b.hardware->busy_gpus() == 0);
  CHECK(b.queue.empty() == false);  // deadlines that were moved
  b.run_until(at(200s));
  CHECK(b.hardware->reap(1).size() == 1);
}

TEST_CASE(
    "a process that ends already is not kept alive, and its old deadline does not wake it for "
    "ever") {
  Bench b(false);
  LocalClock right;
  b.hardware->set_clock(0, right);
  Manners manners;
  manners.stays = 1;
  manners.stay = 60s;
  b.hardware->set_manners(manners);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2), {}, at(100s)).ok());
  b.hardware->kill_guardian(0, 0);
  REQUIRE(b.hardware->busy_gpus() == 2);
  b.hardware->renew(0, Bench::attempt(1), at(1ms));  // its executor does not know yet
  int events = 0;
  for (; events < 100 && !b.queue.empty(); ++events) b.run_one();
  CHECK(events < 10);
  CHECK(b.hardware->busy_gpus() == 0);
  CHECK(b.hardware->reap(0).size() == 1);
}

TEST_CASE("starts and ends take their time, and a GPU is free when nothing is left that holds it") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Bench b(false);
    Manners manners;
    manners.seed = seed;
    manners.start = manners.stay = 10s;
    manners.stop = 4s;
    manners.deaf = manners.stays = 0.5;
    b.hardware->set_manners(manners);
    REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
    CHECK(b.hardware->busy_gpus() == 2);
    CHECK(b.hardware->moving_gangs() == 0);
    b.run_until(at(10s));
    CHECK(b.hardware->moving_gangs() == 1);
    b.hardware->stop(0, Bench::attempt(1), 6s);
    b.hardware->stop(0, Bench::attempt(1), 6s);
    CHECK(b.hardware->busy_gpus() == 2);
    CHECK(b.hardware->moving_gangs() == 0);
    b.run_until(at(10s) + 6s + 10s);
    CHECK(b.hardware->busy_gpus() == 0);
    const std::vector<Exit> ended = b.hardware->reap(0);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].exit.code < 0);
    CHECK_FALSE(ended[0].exit.lost);
    CHECK(b.hardware->overlap().empty());
  }
}

TEST_CASE("a start that comes to nothing is told as lost") {
  Bench b(false);
  Manners manners;
  manners.start = 10s;
  manners.lost = 1;
  b.hardware->set_manners(manners);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  b.run_until(at(10s));
  CHECK(b.hardware->busy_gpus() == 0);
  const std::vector<Exit> ended = b.hardware->reap(0);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].exit.lost);
}

TEST_CASE(
    "a job that fails by itself: one process says so, the others wait until they are stopped") {
  Bench b(false);
  Manners manners;
  manners.fails = 1;
  b.hardware->set_manners(manners);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 1), {GpuId{0}, GpuId{4}}).ok());
  REQUIRE(b.start(1, Bench::attempt(1), Bench::gpus(4, 1), {GpuId{0}, GpuId{4}}).ok());
  b.run_until(at(150s));
  std::vector<Exit> ended = b.hardware->reap(0);
  for (Exit& exit : b.hardware->reap(1)) ended.push_back(std::move(exit));
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].exit.code != 0);
  CHECK(b.hardware->jobs()[0].failed);
  CHECK(b.hardware->jobs()[0].completed == kNever);
  CHECK(b.hardware->busy_gpus() == 1);
  b.hardware->stop(0, Bench::attempt(1));
  b.hardware->stop(1, Bench::attempt(1));
  CHECK(b.hardware->busy_gpus() == 0);
}

TEST_CASE("a machine that sleeps: its processes stand still, and the overdue end when it wakes") {
  Bench b(false);
  const LocalClock clock;
  b.hardware->set_clock(0, clock);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2), {}, at(50s)).ok());
  REQUIRE(b.start(0, Bench::attempt(2), Bench::gpus(2, 2), Bench::gpus(2, 2)).ok());
  b.run_until(at(10s));
  b.hardware->sleep(0);
  b.run_until(at(500s));
  CHECK(b.hardware->processes().empty());
  CHECK(b.hardware->busy_gpus() == 4);
  b.hardware->wake(0);
  CHECK(b.hardware->busy_gpus() == 2);
  REQUIRE(b.hardware->processes().size() == 1);
  CHECK(b.hardware->reap(0).front().exit.lost);
  b.run_until(at(590s) - 1ns);
  CHECK(b.hardware->busy_gpus() == 2);
  b.run_until(at(590s));
  CHECK(b.hardware->busy_gpus() == 0);
}

TEST_CASE("a new executor life hears of what its hardware did not keep, and of nothing else") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  LaunchSpec kept, lost;
  kept.attempt = Bench::attempt(1);
  lost.attempt = Bench::attempt(2);
  b.hardware->adopt(0, std::vector<LaunchSpec>{kept, lost});
  const std::vector<Exit> ended = b.hardware->reap(0);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].attempt == Bench::attempt(2));
  CHECK(ended[0].exit.lost);
}

}  // namespace
}  // namespace starling
