// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/over_partitions.h"

#include <doctest/doctest.h>

#include "policies/elastic/elastic_jobs_test.h"
#include "policies/testing/test_world.h"

namespace starling {
namespace {

/// Two partitions of a server of eight each.
struct TwoHomes {
  explicit TwoHomes(const std::string& policy) : world(topology, registry, policy, {.agents = 2}) {}
  Topology topology = servers(2);
  PolicyRegistry registry = make_policy_registry();
  TestWorld world;
};

Trace trace_of(std::vector<TraceJob> jobs) {
  Trace trace;
  trace.jobs = std::move(jobs);
  return trace;
}

double end_of(const TestWorld::Job& job) { return seconds(job.finished - Instant{}); }

TEST_CASE("a job alone grows over both partitions, unless gangs are as large as they ask to be") {
  for (const std::string name : {"optimus", "drf"}) {
    CAPTURE(name);
    double end[2] = {};
    const char* spread[] = {":spread=asked", ":spread=grow"};
    for (int i = 0; i < 2; ++i) {
      TwoHomes homes(name + spread[i]);
      homes.world.run(trace_of({elastic(1, 0, 16, 60'000)}));
      CHECK(homes.world.faults.empty());
      CHECK(homes.world.spread_starts == static_cast<std::uint64_t>(i));
      end[i] = end_of(homes.world.jobs[0]);
    }
    // 8 GPUs do 7.02 times what one does, 16 of them 12.3 times.
    CHECK(end[0] == doctest::Approx(8550).epsilon(0.02));
    CHECK(end[1] < 0.7 * end[0]);
  }
}

TEST_CASE("a gang comes home at the round after somebody has come who waits for its GPUs") {
  for (const std::string name : {"optimus", "drf"}) {
    CAPTURE(name);
    TwoHomes homes(name + ":spread=grow");
    // The second arrives at the other home, whose GPUs the first has.
    homes.world.run(trace_of({elastic(1, 0, 16, 200'000), elastic(2, 5000, 8, 20'000)}));
    CHECK(homes.world.faults.empty());
    CHECK(homes.world.spread_starts >= 1);
    const TestWorld::Job& second = homes.world.jobs[1];
    CHECK(second.starts >= 1);
    // It waits for a round at most, then runs on eight.
    CHECK(end_of(second) <= 5000 + 2 * 600 + 20'000 / 7.02 + 1);
  }
}

TEST_CASE("nobody grows where it gains less than its stops cost, or somebody waits") {
  TwoHomes homes("optimus:restart=500");
  homes.world.run(trace_of({elastic(1, 0, 16, 60'000)}));
  CHECK(homes.world.faults.empty());
  CHECK(homes.world.spread_starts == 0);
}

TEST_CASE("a job whose least size is more than a partition has starts as large as there is room") {
  TwoHomes homes("drf:spread=grow");
  TraceJob wide = elastic(1, 0, 16, 60'000);
  wide.spec.workers = 16;
  wide.spec.min_workers = 10;
  TraceJob narrow = elastic(2, 0, 4, 600'000);
  narrow.spec.min_workers = narrow.spec.workers = 4;
  homes.world.run(trace_of({wide, narrow}));
  CHECK(homes.world.faults.empty());
  const TestWorld::Job& job = homes.world.jobs[0];
  CHECK(job.starts >= 1);
  // On twelve GPUs, for the other four are busy until long after its end: 9.84 of 12.3 times.
  CHECK(end_of(job) == doctest::Approx(60'000 * 12.3 / 9.84).epsilon(0.05));
}

/// What agent 0 of two is shown.
struct Seen {
  Seen() {
    digest.agent = AgentId{1};
    digest.partition = PartitionId{1};
    digest.gpus = digest.free = 16;
    digest.whole_free_servers = 2;
    digest.largest_free_server = 8;
    digest.servers = {2, 4};
  }
  [[nodiscard]] View view() {
    others = {digest};
    return {topology, gpus, waiting, running, others, speed, now, AgentId{0}};
  }
  Topology topology = servers(4);
  Occupancy gpus{topology, {0, 2}};
  EqualTestSpeed speed;
  RemoteDigest digest;
  std::vector<JobView> waiting, running;
  std::vector<RemoteDigest> others;
  Instant now{};
};

TEST_CASE("what is spare elsewhere is where nobody waits, by a young word, but for a server") {
  Seen seen;
  const auto spare = [&](std::uint16_t type = 0) {
    const auto parts = spare_elsewhere(seen.view(), GpuTypeId{type});
    return parts.empty() ? 0 : parts.front().guess.size();
  };
  CHECK(spare() == 8);
  CHECK(spare(7) == 0);
  SUBCASE("as much as a server has is left for newcomers") {
    seen.digest.free = 13, seen.digest.whole_free_servers = 1;
    CHECK(spare() == 0);
    seen.digest.free = 13, seen.digest.whole_free_servers = 0;
    CHECK(spare() == 5);
  }
  SUBCASE("but where there is one server alone") {
    seen.digest.servers = {3, 4};
    seen.digest.free = 5, seen.digest.whole_free_servers = 0;
    CHECK(spare() == 5);
  }
  SUBCASE("somebody waits") {
    seen.digest.waiting = 1;
    CHECK(spare() == 0);
  }
  SUBCASE("the word is old") {
    seen.now = Instant{} + std::chrono::minutes(6);
    CHECK(spare() == 0);
  }
}

TEST_CASE("a gang is called home once somebody waits here or where its other GPUs are") {
  Seen seen;
  const TraceJob spread = elastic(1, 0, 16, 1000);
  JobView gang;
  gang.spec = &spread.spec;
  gang.placement = {GpuId{3}, GpuId{4}, GpuId{20}};
  seen.gpus.take(Placement{GpuId{3}, GpuId{4}});
  const OverPartitions over(std::chrono::seconds(600), true);
  CHECK(OverPartitions::is_away(seen.view(), gang));
  CHECK(OverPartitions::part_here(seen.view(), gang) == Placement{GpuId{3}, GpuId{4}});
  CHECK_FALSE(over.is_called_home(seen.view(), gang));
  SUBCASE("there") {
    seen.digest.waiting = 1;
    CHECK(over.is_called_home(seen.view(), gang));
    CHECK_FALSE(OverPartitions(std::chrono::seconds(600), false).is_called_home(seen.view(), gang));
    gang.blocked = true;
    CHECK_FALSE(over.is_called_home(seen.view(), gang));
  }
  SUBCASE("here") {
    const TraceJob waits = elastic(2, 0, 16, 1000);
    seen.waiting.resize(1);
    seen.waiting.front().spec = &waits.spec;
    CHECK(over.is_called_home(seen.view(), gang));
  }
  SUBCASE("not one that has let go here") {
    seen.gpus.give_back(Placement{GpuId{4}});
    seen.digest.waiting = 1;
    CHECK_FALSE(over.is_called_home(seen.view(), gang));
  }
  SUBCASE("not one that can have no other size") {
    TraceJob rigid = spread;
    rigid.spec.max_workers = rigid.spec.min_workers = 0;
    gang.spec = &rigid.spec;
    seen.digest.waiting = 1;
    CHECK_FALSE(over.is_called_home(seen.view(), gang));
  }
}

}  // namespace
}  // namespace starling
