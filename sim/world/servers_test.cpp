// SPDX-License-Identifier: Apache-2.0
// A world whose servers become others while jobs run.
#include <doctest/doctest.h>

#include "agents/step/state.h"
#include "sim/test_two_racks.h"
#include "topology/builder.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

Trace gangs(std::uint32_t jobs, std::uint32_t workers) {
  Trace trace = equal_jobs(jobs, 200s, 1s);
  for (TraceJob& job : trace.jobs) job.spec.workers = workers;
  return trace;
}

struct Flock : TwoRacks {
  explicit Flock(std::uint32_t jobs = 6, std::uint32_t workers = 4)
      : TwoRacks(gangs(jobs, workers)) {}
  void start_all() {
    for (std::uint32_t e = 0; e < world->executors(); ++e) {
      if (!world->retired(e)) REQUIRE(world->restart_executor(e).ok());
    }
    for (std::uint32_t a = 0; a < world->agents(); ++a)
      REQUIRE(world->restart_agent(AgentId{a}).ok());
  }
  /// None has been started twice.
  void to_the_end() const {
    TwoRacks::to_the_end();
    for (const TraceJob& job : trace.jobs)
      CHECK(world->hardware().jobs()[world->hardware().row_of(job.spec.id)].attempts == 1);
  }
};

/// The servers of `now`, the second rack's first one with another number of GPUs and one more
/// server in front of all.
Topology with_one_more(const Topology& now, std::uint32_t gpus = 8) {
  TopologyBuilder builder(now.name());
  for (const GpuType& type : now.gpu_types()) (void)builder.gpu_type(type);
  builder.begin_pod(now.subtrees()[1].name);
  builder.begin_rack(now.subtrees()[2].name);
  Server more = now.server(ServerId{0});
  more.name = "more";
  builder.add_server(more, 8);
  for (std::uint32_t s = 0; s < now.server_count(); ++s) {
    if (s == 2) builder.begin_rack(now.subtrees()[3].name);
    builder.add_server(now.server(ServerId{s}), s == 2 ? gpus : 8);
  }
  return std::move(builder).build();
}
const std::vector<IndexRange> kOneMore = {{0, 2}, {2, 3}, {3, 4}, {4, 5}};

TEST_CASE("jobs go on under other numbers, and nothing runs twice") {
  Flock flock;
  World& world = *flock.world;
  flock.until(50s);
  const std::size_t running = world.hardware().processes().size();
  REQUIRE(running > 2);
  const Topology after = with_one_more(flock.topology);
  const auto numbers = world.change_servers(after, kOneMore);
  REQUIRE_MESSAGE(numbers.ok(), (numbers.ok() ? "" : numbers.error().message));
  CHECK(numbers.value().servers == std::vector<std::uint32_t>{1, 2, 3, 4});
  CHECK(world.topology().server_count() == 5);
  CHECK(world.agent(AgentId{0}) == nullptr);
  CHECK(world.hardware().processes().size() == running);
  for (const SimProcess& p : world.hardware().processes()) CHECK(p.server.value > 0);
  flock.start_all();
  flock.until(60s);
  CHECK(world.agent(AgentId{0})->state().owner.partition.gpus == IndexRange{0, 24});
  CHECK(world.hardware().processes().size() == running);
  flock.to_the_end();
}

TEST_CASE("a node that was down for two changes reads its journal from the first numbers") {
  Flock flock;
  World& world = *flock.world;
  flock.until(50s);
  world.crash_agent(AgentId{1});
  world.crash_executor(3);
  const Topology first = with_one_more(flock.topology);
  REQUIRE(world.change_servers(first, kOneMore).ok());
  REQUIRE(world.restart_agent(AgentId{0}).ok());
  flock.until(55s);
  // The server that came leaves again; nothing has been placed there.
  for (const SimProcess& process : world.hardware().processes())
    CHECK(process.server != ServerId{0});
  REQUIRE(
      world.change_servers(flock.topology, std::vector<IndexRange>{{0, 1}, {1, 2}, {2, 3}, {3, 4}})
          .ok());
  flock.start_all();
  flock.to_the_end();
}

TEST_CASE("what something runs on does not change, and no job notices that it was asked for") {
  Flock flock(8, 4);
  World& world = *flock.world;
  flock.until(50s);
  REQUIRE(world.hardware().busy_gpus() == 32);
  const auto refused = world.change_servers(with_one_more(flock.topology, 4), kOneMore);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::busy);
  CHECK(world.topology().server_count() == 4);
  CHECK(world.agent(AgentId{0}) != nullptr);
  flock.to_the_end();
}

TEST_CASE("an executor whose servers have left is gone, and its partition goes on") {
  Flock flock(4, 2);
  World& world = *flock.world;
  world.drain(ServerId{3}, true, true);
  flock.until(60s);
  TopologyBuilder builder(flock.topology.name());
  for (const GpuType& type : flock.topology.gpu_types()) (void)builder.gpu_type(type);
  builder.begin_pod(flock.topology.subtrees()[1].name);
  for (std::uint32_t s = 0; s < 3; ++s) {
    if (s % 2 == 0) builder.begin_rack(flock.topology.subtrees()[2 + s / 2].name);
    builder.add_server(flock.topology.server(ServerId{s}), 8);
  }
  const Topology after = std::move(builder).build();
  REQUIRE(
      world.change_servers(after, std::vector<IndexRange>{{0, 1}, {1, 2}, {2, 3}, {3, 3}}).ok());
  CHECK(world.retired(3));
  CHECK(world.servers_of(3).size() == 0);
  flock.start_all();
  flock.until(70s);
  CHECK(world.agent(AgentId{1})->state().owner.partition.gpus == IndexRange{16, 24});
  flock.to_the_end();
}

}  // namespace
}  // namespace starling
