// SPDX-License-Identifier: Apache-2.0
// Who asks other partitions for a share, when again, and how long a moved job stays.
#include "policies/partitions/co_allocation.h"

#include <doctest/doctest.h>

#include "policies/partitions/moves.h"
#include "policies/testing/battery.h"

namespace starling {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST_CASE("each move doubles the stay, up to ten minutes") {
  CHECK(forward_backoff(0) == Duration::zero());
  CHECK(forward_backoff(1) == seconds(1));
  CHECK(forward_backoff(4) == seconds(8));
  CHECK(forward_backoff(11) == minutes(10));
  CHECK(forward_backoff(4'000'000'000U) == minutes(10));
}

TEST_CASE("the limits of moves are in order") {
  for (const std::size_t others : {1U, 3U, 100U}) {
    CHECK(most_moves_infeasible(others) >= others);
    CHECK(most_moves_in_hope(others) > most_moves_infeasible(others));
    CHECK(most_moves(others) > most_moves_in_hope(others));
  }
}

TEST_CASE("each failed round doubles the wait, and no two gangs wait alike") {
  for (std::uint32_t failed = 0; failed < 40; ++failed) {
    const Duration wait = until_next_round(JobId{1, 1}, failed);
    const Duration least = std::min<Duration>(seconds(1LL << std::min(failed, 20U)), minutes(30));
    CHECK(wait >= least);
    CHECK(wait < 2 * least);
    CHECK(wait != until_next_round(JobId{1, 2}, failed));
  }
}

/// Two servers of four GPUs: a V100 one, of which one GPU is taken, and a P100 one.
class Two {
 public:
  Two() : topology(make()), speed(topology), gpus(topology, {0, 2}) {
    gpus.take(Placement{GpuId{0}});
    spec.id = JobId{1, 1};
    spec.workers = 6;
    job.spec = &spec;
    entry.order = 5;
  }
  [[nodiscard]] View view() const { return {topology, gpus, {}, {}, {}, speed, now, AgentId{0}}; }
  Topology topology;
  CrowdedSpeed speed;
  Occupancy gpus;
  Instant now{};
  JobSpec spec;
  JobView job;
  QueueEntry entry;

 private:
  static Topology make() {
    GeneratorOptions options;
    options.groups = {{1, "V100"}, {1, "P100"}};
    options.gpus_per_server = 4;
    return generate_flat(options).value();
  }
};

TEST_CASE("a gang that has asked may ask again when its time has come, others at once") {
  Two world;
  Mirror mirror;
  Trial local(mirror, world.gpus);
  CoAllocation gangs;
  std::vector<Decision> out;
  CHECK(gangs.may_ask(world.entry));
  gangs.ask(world.view(), world.entry, world.job, {GpuId{1}, GpuId{2}}, std::nullopt, local, out);
  REQUIRE(out.size() == 1);
  CHECK(std::get<Spread>(out.front()).local == Placement{GpuId{1}, GpuId{2}});
  CHECK(local.free_count() == 5);
  QueueEntry other = world.entry;
  ++other.order;
  CHECK(gangs.may_ask(other));
  const Duration wait = until_next_round(world.spec.id, 0);
  gangs.begin(world.now + wait - Duration(1));
  CHECK_FALSE(gangs.may_ask(world.entry));
  gangs.begin(world.now + wait);
  CHECK(gangs.may_ask(world.entry));
}

TEST_CASE("whole workers of one type, as far as their CPUs go") {
  Two world;
  const GpuTypeId v100 = world.topology.server(ServerId{0}).gpu_type;
  const GpuTypeId p100 = world.topology.server(ServerId{1}).gpu_type;
  CHECK(free_of_type(world.gpus, v100, world.spec) == 3);
  CHECK(workers_of_type(world.gpus, v100, 8, world.spec) ==
        Placement{GpuId{1}, GpuId{2}, GpuId{3}});
  CHECK(workers_of_type(world.gpus, p100, 2, world.spec) == Placement{GpuId{4}, GpuId{5}});
  world.spec.gpus_per_worker = 2;
  CHECK(workers_of_type(world.gpus, v100, 8, world.spec).size() == 2);
  world.spec.gpus_per_worker = 1;
  world.spec.cpus_per_worker = 40;  // of 64
  CHECK(free_of_type(world.gpus, p100, world.spec) == 1);
  CHECK(workers_of_type(world.gpus, p100, 4, world.spec).size() == 1);
}

}  // namespace
}  // namespace starling
