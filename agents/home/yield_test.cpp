// SPDX-License-Identifier: Apache-2.0
// A gang that no partition holds, under policies that stop jobs: homes stop theirs for it.
#include <doctest/doctest.h>

#include "agents/home/turn.h"
#include "agents/step/job.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kWideGang = 100;
constexpr Duration kLong = 130min;  // of the small jobs: beyond kPatience and a turn

JobSpec job_of(std::uint64_t n, std::uint32_t gpus, Duration duration) {
  JobSpec spec;
  spec.id = JobId{0, n};
  spec.workers = gpus;
  spec.duration = duration;
  return spec;
}

/// Two homes with four GPUs each, all of which have a job that runs for long. A gang of six waits.
struct Full {
  Full(const std::string& policy, bool lossy, const JobSpec& small = job_of(0, 1, kLong),
       Duration gang = 5min)
      : flock({.agents = 2,
               .servers = 2,
               .policy = policy,
               .delay = lossy ? Duration(1ms) : Duration{0},
               .lossy = lossy}) {
    for (std::uint64_t n = 1; n <= 8; ++n) {
      JobSpec spec = small;
      spec.id = JobId{0, n};
      flock.submit(spec, static_cast<std::uint32_t>(n % 2));
    }
    flock.run_for(15min);  // some policies start jobs in rounds
    for (std::uint64_t n = 1; n <= 8; ++n) REQUIRE(runs(n));
    flock.submit(kWideGang, 6, gang);
  }
  [[nodiscard]] std::uint64_t stopped() const {
    return flock.agent(0).counters.preemptions + flock.agent(1).counters.preemptions;
  }
  /// Null: it is over, or on its way.
  [[nodiscard]] const Job* find(std::uint64_t n) const {
    for (const std::uint32_t a : {0U, 1U}) {
      const auto job = flock.agent(a).home.jobs.find(JobId{0, n});
      if (job != flock.agent(a).home.jobs.end()) return &job->second;
    }
    return nullptr;
  }
  [[nodiscard]] bool runs(std::uint64_t n) const {
    return find(n) != nullptr && find(n)->stage() == Stage::running;
  }
  [[nodiscard]] bool gang_waits() const {
    return find(kWideGang) != nullptr && find(kWideGang)->run() == nullptr;
  }
  TestFlock flock;
};

TEST_CASE("jobs of both partitions stop for a gang that needs both, once it has been patient") {
  std::uint64_t sample = 0;
  for (const bool lossy : {false, true}) {
    for (const std::string policy : {"tiresias-las", "srtf", "gavel", "optimus", "drf", "rank"}) {
      if (lossy && !is_sampled(sample++)) continue;
      CAPTURE(lossy);
      CAPTURE(policy);
      Full full(policy, lossy, job_of(0, 1, kLong), 1h);
      full.flock.run_for(kPatience - 1min);
      CHECK(full.gang_waits());
      full.flock.run_for(
          30min);  // a pause between turns in vain, or a round where nothing else happens
      CHECK(full.runs(kWideGang));
      CHECK(full.stopped() >= 6);
      CHECK(full.flock.settle(4 * kLong));  // no job is lost, and nothing stays kept
      CHECK(full.flock.faults().empty());
      for (std::uint32_t a : {0U, 1U}) CHECK_FALSE(full.flock.agent(a).owner.claim);
    }
  }
}

TEST_CASE(
    "no job stops for it that is more urgent, may not be stopped, or has a policy that stops "
    "none") {
  JobSpec small = job_of(0, 1, kLong);
  std::string policy = "tiresias-las";
  SUBCASE("more urgent") { small.priority = 1; }
  SUBCASE("not to be started again") { small.no_requeue = true; }
  SUBCASE("a policy that stops no job") { policy = "fifo:queue=skip"; }
  for (const bool lossy : {false, true}) {
    CAPTURE(lossy);
    Full full(policy, lossy, small);
    full.flock.run_for(kPatience + 20min);
    CHECK(full.gang_waits());
    CHECK(full.stopped() == 0);
    CHECK(full.flock.settle(2 * kLong));
    CHECK(full.flock.faults().empty());
  }
}

TEST_CASE("two gangs that need both partitions have their turns one after the other") {
  for (const bool lossy : {false, true}) {
    CAPTURE(lossy);
    Full full("tiresias-las", lossy);
    full.flock.submit(kWideGang + 1, 6, 5min, 1);
    full.flock.run_for(kPatience + 2h);
    CHECK(full.find(kWideGang) == nullptr);
    CHECK(full.find(kWideGang + 1) == nullptr);
    CHECK(full.flock.faults().empty());
  }
}

TEST_CASE("a home or an owner that dies while jobs stop for a gang loses nothing") {
  for (std::uint64_t step = 1; step < 32; step += 5 * kSparse) {
    for (const std::uint32_t dies : {0U, 1U}) {
      CAPTURE(step);
      CAPTURE(dies);
      Full full("tiresias-las", true);
      for (int second = 0; full.stopped() == 0 && second < 7'200; ++second) full.flock.run_for(1s);
      REQUIRE(full.stopped() > 0);
      full.flock.crash_agent_at(dies, step, step % 2 == 0);
      full.flock.run_for(2min);
      if (!full.flock.is_up(dies)) full.flock.restart_agent(dies);
      CHECK(full.flock.settle(4 * kLong));
      CHECK(full.flock.faults().empty());
    }
  }
}

}  // namespace
}  // namespace starling
