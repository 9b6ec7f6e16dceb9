// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/means.h"

#include <doctest/doctest.h>

#include "agents/step/step.h"
#include "agents/testing/testing.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

JobSpec needy(std::uint64_t n, std::uint32_t workers, std::uint32_t gpus_per_worker, double cpus,
              double memory) {
  JobSpec spec;
  spec.id = JobId{0, n};
  spec.workers = workers;
  spec.gpus_per_worker = gpus_per_worker;
  spec.cpus_per_worker = cpus;
  spec.memory_gib_per_worker = memory;
  spec.duration = 100s;
  return spec;
}

TEST_CASE("what can never be had is said, with what there is") {
  const Topology topology = generate_flat({.servers = 4, .gpus_per_server = 4}).value();
  CHECK(lacks_means(topology, needy(1, 4, 4, 64, 512)).empty());
  CHECK(lacks_means(topology, needy(1, 1, 8, 128, 0)).empty());  // parts of it on two servers
  CHECK(lacks_means(topology, needy(1, 1, 4, 4000, 0)) ==
        "needs 4000 CPUs with the 4 GPUs of its worker; the largest server that it may use has 64 "
        "CPUs and 512 GiB, and all such servers together hold that with 0 GPUs");
  CHECK(lacks_means(topology, needy(1, 5, 1, 64, 4)) ==
        "needs 64 CPUs and 4 GiB with the 1 GPU of each of 5 workers; the largest server that it "
        "may use has 64 CPUs and 512 GiB, and all such servers together hold 4 such workers");
  const Topology silent =
      generate_flat({.servers = 1, .gpus_per_server = 4, .cpus = 0, .memory_gib = 0}).value();
  CHECK(lacks_means(silent, needy(1, 1, 4, 4000, 1e6)).empty());
}

TEST_CASE("jobs that need a whole server's CPUs or memory do not meet on it") {
  for (const bool lossy : {false, true}) {
    TestFlock flock({.servers = 2, .policy = "fifo:queue=skip", .delay = 1ms, .lossy = lossy});
    for (std::uint64_t n = 1; n <= 4; ++n)
      flock.submit(needy(n, 1, 1, n % 2 == 0 ? 64 : 0, n % 2 == 0 ? 0 : 512), 0);
    flock.submit(needy(9, 1, 1, 4000, 0), 0);
    flock.run_for(20s);
    const auto runs = [&](std::uint64_t n) { return flock.phase(n) == JobPhase::running; };
    // One that needs the CPUs and one that needs the memory go together; two of a kind do not.
    for (std::uint64_t n = 1; n <= 4; ++n) CHECK(runs(n));
    const Occupancy& gpus = flock.agent(0).owner.ledger.gpus();
    for (const std::uint32_t server : {0U, 1U})
      CHECK(gpus.taken_on(ServerId{server}) == Demand{64'000'000, 512'000'000});
    flock.submit(needy(5, 1, 1, 1, 0), 0);
    flock.submit(needy(6, 1, 1, 0, 0), 0);
    flock.run_for(20s);
    CHECK_FALSE(runs(5));
    CHECK(runs(6));  // asks for nothing
    flock.crash_agent(0);
    flock.restart_agent(0);
    if (lossy) flock.run_for(20s);
    CHECK(flock.settle(1h));
    CHECK(flock.phase(5) == JobPhase::finished);
    CHECK_FALSE(flock.phase(9) == JobPhase::finished);
    CHECK(flock.agent(0).owner.ledger.gpus().taken_on(ServerId{0}) == Demand{});
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("a gang over two partitions asks both for CPUs") {
  TestFlock flock(
      {.agents = 2, .servers = 2, .policy = "fifo:queue=skip", .delay = 1ms, .lossy = true});
  flock.submit(needy(1, 1, 1, 60, 0), 1);
  flock.run_for(10s);
  flock.submit(needy(2, 6, 1, 8, 0), 0);  // 32 CPUs there and 16 here: there are 4
  flock.run_for(30min);
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.phase(2) == JobPhase::finished);
  CHECK(flock.faults().empty());
}

TEST_CASE("a job goes where its CPUs are free, not where only GPUs are") {
  // Agent 1 has more GPUs free than agent 2, and 4 CPUs beside them.
  for (const char* policy : {"fifo:queue=skip", "sjf", "load-balance:share=last", "lif"}) {
    for (const std::uint16_t protocol : {std::uint16_t{3}, std::uint16_t{2}}) {
      CAPTURE(policy);
      CAPTURE(protocol);
      TestFlock flock({.agents = 3,
                       .servers = 3,
                       .policy = policy,
                       .delay = 1ms,
                       .lossy = true,
                       .protocol = protocol});
      flock.run_for(5s);
      flock.submit(needy(1, 1, 1, 60, 0), 0);
      flock.submit(needy(2, 1, 1, 60, 0), 1);
      flock.submit(needy(3, 1, 2, 0, 0), 2);
      flock.run_for(5s);
      REQUIRE(flock.agent(1).owner.ledger.free_count() == 3);
      REQUIRE(flock.agent(2).owner.ledger.free_count() == 2);
      flock.submit(needy(5, 1, 2, 30, 0), 0);
      flock.run_for(10s);
      const auto at = [&](std::uint32_t a) {
        return flock.agent(a).home.jobs.contains(JobId{0, 5});
      };
      if (protocol >= 3) {
        CHECK(at(2));
        CHECK(flock.phase(5) == JobPhase::running);
        CHECK(flock.agent(0).counters.forwards == 1);
        CHECK(flock.agent(1).counters.forwards == 0);
      }  // before that homes do not hear of CPUs: the job ends up there all the same
      CHECK(flock.settle(1h));
      CHECK(flock.phase(5) == JobPhase::finished);
      CHECK(flock.faults().empty());
    }
  }
}

TEST_CASE("a job stays where no partition has its CPUs, and starts where they are free first") {
  TestFlock flock(
      {.agents = 2, .servers = 2, .policy = "fifo:queue=skip", .delay = 1ms, .lossy = true});
  flock.run_for(5s);
  flock.submit(needy(1, 1, 1, 60, 0), 0);
  JobSpec shorter = needy(2, 1, 1, 60, 0);
  shorter.duration = 30s;
  flock.submit(shorter, 1);
  flock.run_for(5s);
  flock.submit(needy(3, 1, 1, 30, 0), 0);
  flock.run_for(15s);
  CHECK(flock.agent(0).counters.forwards == 0);
  const std::vector<std::string> lines =
      explain(const_cast<AgentState&>(flock.agent(0)), JobId{0, 3}, flock.now());
  CHECK(std::ranges::count(lines,
                           "partition 1 said it has 3 free of 4, its CPUs and memory go with "
                           "0 of those, largest free server 3, 0 waiting") == 1);
  flock.run_for(30s);
  CHECK(flock.agent(1).home.jobs.contains(JobId{0, 3}));
  CHECK(flock.phase(3) == JobPhase::running);
  CHECK(flock.settle(1h));
  CHECK(flock.faults().empty());
}

TEST_CASE("what only another partition could ever hold goes there, and more than that is refused") {
  for (const char* policy : {"fifo", "fifo:queue=skip", "lif", "tetris", "srtf"}) {
    CAPTURE(policy);
    TestFlock flock({.agents = 3,
                     .servers = 3,
                     .cpus_of_last = 128,
                     .policy = policy,
                     .delay = 1ms,
                     .lossy = true});
    flock.run_for(5s);
    flock.submit(needy(1, 1, 1, 100, 0), 0);
    flock.submit(needy(2, 1, 1, 129, 0), 0);
    flock.run_for(30s);
    CHECK(flock.phase(1) == JobPhase::running);
    CHECK(flock.agent(0).counters.forwards == 1);
    CHECK(flock.agent(2).home.jobs.contains(JobId{0, 1}));
    CHECK_FALSE(flock.agent(0).home.jobs.contains(JobId{0, 2}));
    CHECK_FALSE(flock.agent(2).home.jobs.contains(JobId{0, 2}));
    CHECK(flock.settle(1h));
    CHECK(flock.phase(1) == JobPhase::finished);
    CHECK(flock.faults().empty());
    CHECK(lacks_means(flock.topology(), needy(2, 1, 1, 129, 0)).find("has 128 CPUs") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace starling
