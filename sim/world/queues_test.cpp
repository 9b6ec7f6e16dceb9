// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/simulate.h"
#include "sim/test_two_racks.h"

// Worlds that begin with queues.

namespace starling {
namespace {

using namespace std::chrono_literals;

/// "a" has three GPUs of the flock's 32, a user two of them; "b" has what it wants.
QueueTree three_of_a() {
  QueueTree tree;
  tree.version = 1;
  tree.queues.resize(2);
  tree.queues[0].name = "a";
  tree.queues[0].most = 3;
  tree.queues[0].most_per_user = 2;
  tree.queues[1].name = "b";
  tree.fallback = "b";
  return tree;
}

Trace jobs_in(std::uint32_t count, const char* queue, const char* user) {
  Trace trace = equal_jobs(count, 60s, 0s);
  for (TraceJob& job : trace.jobs) {
    job.spec.queue = queue;
    job.spec.user = user;
  }
  return trace;
}

SimOptions with(std::optional<QueueTree> queues) {
  SimOptions options;
  options.queues = std::move(queues);
  return options;
}

/// GPUs that were ever in use at once.
std::uint32_t most_at_once(const TwoRacks& flock) {
  std::uint32_t most = 0;
  for (;;) {
    const Result<bool> more = flock.world->step();
    REQUIRE_MESSAGE(more.ok(), (more.ok() ? "" : more.error().message));
    most = std::max(most, flock.world->hardware().busy_gpus());
    if (!more.value()) return most;
  }
}

TEST_CASE("a queue has as many GPUs as it may, over all homes, and its jobs end one after others") {
  SUBCASE("none") { CHECK(most_at_once(TwoRacks(jobs_in(12, "a", "ann"), with({}))) == 12); }
  SUBCASE("its own limit") {
    Trace trace = jobs_in(12, "a", "ann");
    for (std::size_t i = 0; i < 6; ++i) trace.jobs[i].spec.user = "bob";
    CHECK(most_at_once(TwoRacks(trace, with(three_of_a()))) == 3);
  }
  SUBCASE("a user's") {
    CHECK(most_at_once(TwoRacks(jobs_in(12, "a", "ann"), with(three_of_a()))) == 2);
  }
  SUBCASE("another queue's") {
    CHECK(most_at_once(TwoRacks(jobs_in(12, "", "ann"), with(three_of_a()))) == 12);
  }
}

TEST_CASE("where no frame is lost and none takes time, queues need no timers") {
  const Topology topology = generate_leaf_spine({.servers = 4, .servers_per_rack = 2}).value();
  SimOptions options = with(three_of_a());
  options.agents = 2;
  options.check = true;
  const auto ended_after = [&](const char* queue) {
    const auto result = simulate(topology, jobs_in(12, queue, "ann"), registry(), options);
    REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
    const RunFigures run = figures(result.value());
    CHECK(run.finished == 12);
    return run.makespan_s;
  };
  CHECK(ended_after("a") == doctest::Approx(6 * 60));
  CHECK(ended_after("b") == doctest::Approx(60));
}

TEST_CASE("an agent that begins anew goes by its queues, and what ran goes on to count") {
  TwoRacks flock(jobs_in(12, "a", "ann"), with(three_of_a()));
  flock.until(10s);
  for (const std::uint32_t a : {0U, 1U}) CHECK(flock.world->queues(AgentId{a}) == three_of_a());
  flock.world->crash_agent(AgentId{1});
  REQUIRE(flock.world->restart_agent(AgentId{1}).ok());
  CHECK(flock.world->queues(AgentId{1}).version == 1);
  CHECK(most_at_once(flock) == 2);
  for (const TraceJob& job : flock.trace.jobs)
    CHECK(flock.world->end_of(job.spec.id) == JobPhase::finished);
}

}  // namespace
}  // namespace starling
