// SPDX-License-Identifier: Apache-2.0
// Whom `rank` keeps GPUs for, and whom not; whom it leaves alone; and what it says and learns of
// those who get other than their part, or go elsewhere.
#include <doctest/doctest.h>

#include <algorithm>

#include "interference/models.h"
#include "policies/rank/rank_curves.h"
#include "policies/rank/rank_rig_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

Topology of_groups(std::vector<ServerGroup> groups) {
  GeneratorOptions options;
  options.groups = std::move(groups);
  return generate_flat(options).value();
}

/// Eight rigid jobs of two GPUs: one ends every ten minutes, between rounds, and another is there
/// to follow. Rounds until the first job, which waits behind them, has GPUs; `most`: it never had.
int rounds_until_first_runs(RankRig& rig, int most) {
  const JobId first = rig.jobs.front().spec->id;
  const auto runs = [&] {
    return std::ranges::any_of(
        rig.jobs, [&](const JobView& j) { return j.spec->id == first && !j.placement.empty(); });
  };
  for (int rounds = 0; rounds < most; ++rounds) {
    rig.pass(600s);
    while (rig.jobs.size() < 9) rig.submit(rigid_spec(2, 4800));
    rig.settle(TriggerKind::arrival);
    const auto oldest =
        std::ranges::find_if(rig.jobs, [](const JobView& j) { return j.placement.size() == 2; });
    if (oldest != rig.jobs.end()) rig.end(static_cast<std::size_t>(oldest - rig.jobs.begin()));
    rig.submit(rigid_spec(2, 4800));
    rig.settle(TriggerKind::departure);
    rig.settle(TriggerKind::round);
    if (runs()) return rounds;
  }
  return most;
}

TEST_CASE("a gang over all types that has waited for its patience is passed by no rigid job") {
  RankRig rig(of_groups({{1, "V100"}, {1, "P100"}}), {.believes = true, .patience_s = 7200});
  for (int i = 0; i < 8; ++i) rig.submit(rigid_spec(2, 4800));
  rig.round();
  rig.submit(rigid_spec(16, 2400));
  std::rotate(rig.jobs.begin(), rig.jobs.end() - 1, rig.jobs.end());
  const int rounds = rounds_until_first_runs(rig, 100);
  CHECK(rounds >= 12);
  CHECK(rounds <= 28);
}

TEST_CASE("a job that nothing here can ever run keeps no other from starting") {
  JobSpec never = rigid_spec(2, 1000);
  Topology topology = of_groups({{2, "V100"}});
  SUBCASE("of another type") { never.gpu_types = {"P100"}; }
  SUBCASE("of which there are too few of its types together") {
    topology = of_groups({{2, "V100"}, {1, "P100"}, {1, "K80"}});
    never = rigid_spec(24, 1000);
    never.gpu_types = {"P100", "K80"};
  }
  SUBCASE("with more memory than a server has") {
    GeneratorOptions options;
    options.groups = {{2, "V100"}};
    options.memory_gib = 100;
    topology = generate_flat(options).value();
    never.memory_gib_per_worker = 200;
  }
  SUBCASE("more urgent, too") { never.gpu_types = {"P100"}, never.priority = 1; }
  RankRig rig(topology, {.believes = true, .patience_s = 3600});
  rig.submit(never);
  for (int i = 0; i < 3; ++i) rig.round(3600s);
  rig.submit(rigid_spec(2, 1000));
  rig.round();
  CHECK(rig.gpus_of(0) == 0);
  CHECK(rig.gpus_of(1) == 2);
  rig.submit(rigid_spec(2, 1000));
  rig.now += 1s;
  rig.settle(TriggerKind::arrival);
  CHECK(rig.gpus_of(2) == 2);
}

TEST_CASE("what runs on a drained server ends there: it is neither resized nor stopped") {
  RankRig rig(servers(2));
  rig.submit(elastic_spec(8, 50'000));
  rig.submit(elastic_spec(8, 50'000));
  rig.round();
  const Placement there = rig.jobs[0].placement;
  REQUIRE(there.size() == 8);
  const ServerId server = rig.topology.server_of(there.front());
  (void)rig.gpus.block({server.value, server.value + 1});
  for (int i = 0; i < 12; ++i) rig.submit(elastic_spec(8, 100));
  rig.round(120s);
  CHECK(rig.jobs[0].placement == there);
  CHECK(rig.gpus_of(1) < 8);  // the other server is shared out as ever
  while (rig.jobs.size() > 2) rig.end(2);
  rig.end(1);
  rig.now += 10s;
  rig.settle(TriggerKind::departure);  // no job waits, and eight GPUs are free
  CHECK(rig.jobs[0].placement == there);
}

TEST_CASE("of a job that moves what it did here is learned as no length") {
  const Topology topology = of_groups({{1, "V100"}, {1, "P100"}});
  const GpuTypeId first = topology.server(ServerId{0}).gpu_type;
  const std::uint32_t slow = topology.gpu_types()[first.value].name == "P100" ? 0 : 1;
  RankRig rig(topology, {slow, slow + 1}, {});
  const auto model = make_analytic_speed(topology);
  rig.speed = model.get();
  const GpuTypeId fast = topology.server(ServerId{1 - slow}).gpu_type;
  std::vector<TypeRoom> rooms;
  std::vector<TypePrice> prices;
  RemoteDigest other;
  other.agent = AgentId{1};
  other.servers = {1 - slow, 2 - slow};
  other.gpus = 8;
  const auto says_other = [&](std::uint32_t free, float price) {
    rooms = {{fast, free, free, 0}};
    prices = {{fast, price}};
    other.free = free;
    other.types = rooms;
    other.prices = prices;
    other.at = rig.now;
    ++other.version;
    rig.others = {other};
  };
  JobSpec job = elastic_spec(1, 0);
  job.user = "somebody";
  job.model = "resnet50";
  says_other(0, 50);
  rig.submit(job);
  rig.round();
  REQUIRE(rig.gpus_of(0) == 1);
  rig.pass(2h);
  says_other(8, 0.1F);
  rig.settle(TriggerKind::round);
  REQUIRE(rig.jobs.empty());  // it went there
  says_other(0, 50);
  rig.submit(job);
  rig.round();
  REQUIRE(rig.gpus_of(0) == 1);
  CHECK(says(rig.why(0), "; 900 s of it were expected to be left"));  // nothing is known yet
}

TEST_CASE("it tells what a job has, not what it would have had where there was room") {
  // Two servers have three GPUs left each; over both a gang has a third of its speed.
  RankRig rig(servers(2));
  const ApartIsSlow speed(rig.topology);
  rig.speed = &speed;
  for (int i = 0; i < 2; ++i) rig.submit(rigid_spec(5, 1e6));
  rig.round();
  JobSpec wants = elastic_spec(6, 1000);
  wants.workers = 6;
  rig.submit(wants);
  rig.round(120s);
  REQUIRE(rig.gpus_of(2) == 3);
  CHECK(says(rig.why(2), "it got 3 GPUs of V100"));
  CHECK(says(rig.why(2), "its part was 6 GPUs of V100"));
}

TEST_CASE("of thousands of workers only some sizes are looked at, the largest among them") {
  const Topology topology = of_groups({{512, "V100"}});
  const Occupancy empty(topology, {0, topology.server_count()});
  const auto model = make_analytic_speed(topology);
  const View view{topology, empty, {}, {}, {}, *model, Instant{}, AgentId{0}};
  JobSpec job = elastic_spec(3000, 1000);
  job.model = "resnet50";
  RankCurves curves;
  const auto speeds = curves.of(view, shape_of(empty), empty, job);
  const auto& sizes = speeds->sizes[0];
  CHECK(sizes.size() < 128);
  for (std::uint32_t k = 1; k <= 64; ++k) CHECK(sizes[k - 1].gpus == k);
  for (std::size_t i = 64; i < sizes.size(); ++i) CHECK(sizes[i].gpus * 8 <= sizes[i - 1].gpus * 9);
  CHECK(sizes.back().gpus == 3000);
  job.max_workers = 5000;
  CHECK(curves.of(view, shape_of(empty), empty, job)->sizes[0].back().gpus == 4096);
}

}  // namespace
}  // namespace starling
