// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/over_partitions.h"

#include <doctest/doctest.h>

#include "policies/elastic/elastic_jobs_test.h"
#include "policies/registry.h"
#include "policies/testing/test_world.h"
#include "scheduling/feedback.h"

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

TEST_CASE("a gang comes home at the round after a job has come that waits for its GPUs") {
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

TEST_CASE("no gang grows where it gains less than its stops cost") {
  TwoHomes homes("optimus:restart=500");
  homes.world.run(trace_of({elastic(1, 0, 16, 60'000)}));
  CHECK(homes.world.faults.empty());
  CHECK(homes.world.spread_starts == 0);
}

TEST_CASE("a job whose least size is more than a partition has starts as large as there is room") {
  TwoHomes homes("drf:spread=grow");
  TraceJob wide = elastic(1, 1, 16, 60'000);
  wide.spec.workers = 16;
  wide.spec.min_workers = 10;
  TraceJob narrow = elastic(2, 0, 4, 600'000);
  narrow.spec.min_workers = narrow.spec.workers = 4;
  homes.world.run(trace_of({narrow, wide}));
  CHECK(homes.world.faults.empty());
  const TestWorld::Job& job = homes.world.jobs[1];
  CHECK(job.starts >= 1);
  CHECK(homes.world.preemptions == 0);
  // On twelve GPUs, for the other four are busy until long after its end: 9.84 of 12.3 times.
  CHECK(end_of(job) == doctest::Approx(1 + 60'000 * 12.3 / 9.84).epsilon(0.05));
}

TEST_CASE(
    "a gang whose least size is more than its partition has is not stopped for jobs that wait") {
  for (const std::string name : {"optimus", "drf"}) {
    CAPTURE(name);
    TwoHomes homes(name + ":spread=grow");
    std::vector<TraceJob> wide{elastic(1, 0, 16, 60'000), elastic(2, 0, 16, 60'000)};
    for (TraceJob& job : wide) job.spec.workers = 16, job.spec.min_workers = 10;
    homes.world.run(trace_of(wide));
    CHECK(homes.world.faults.empty());
    CHECK(homes.world.preemptions == 0);
    for (const TestWorld::Job& job : homes.world.jobs) {
      CHECK(job.starts == 1);
      CHECK(end_of(job) < 2 * 60'000 + 2 * 3600);
    }
  }
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

TEST_CASE("what is spare elsewhere is where no job waits, by a young word, but for a server") {
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
  SUBCASE("a job waits") {
    seen.digest.waiting = 1;
    CHECK(spare() == 0);
  }
  SUBCASE("the word is old") {
    seen.now = Instant{} + std::chrono::minutes(6);
    CHECK(spare() == 0);
  }
}

TEST_CASE("a gang is called home once a job waits here or where its other GPUs are") {
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
  SUBCASE("here, by a job that could use what it has here, and comes no later") {
    TraceJob waits = elastic(2, 0, 16, 1000);
    seen.waiting.resize(1);
    seen.waiting.front().spec = &waits.spec;
    SUBCASE("of a lower priority") { waits.spec.priority = -1; }
    SUBCASE("of another GPU type") { waits.spec.gpu_types = {"A100"}; }
    SUBCASE("larger than all partitions") { waits.spec.min_workers = waits.spec.max_workers = 33; }
    SUBCASE("on its way elsewhere") { seen.waiting.front().blocked = true; }
    SUBCASE("where it has nothing") {
      seen.gpus.give_back(Placement{GpuId{3}, GpuId{4}});
      gang.placement = {GpuId{20}};
    }
    CHECK_FALSE(over.is_called_home(seen.view(), gang));
    seen.digest.waiting = 1;  // of others it is only known that they wait
    CHECK(over.is_called_home(seen.view(), gang));
  }
  SUBCASE("not one that cannot be at home") {
    seen.digest.waiting = 1;
    TraceJob wide = spread;
    gang.spec = &wide.spec;
    wide.spec.workers = wide.spec.min_workers = 16;
    CHECK(over.is_called_home(seen.view(), gang));
    SUBCASE("because it is too large") {
      wide.spec.workers = wide.spec.min_workers = wide.spec.max_workers = 17;
    }
    SUBCASE("because its workers are") {
      wide.spec.gpus_per_worker = 3;
      wide.spec.workers = wide.spec.min_workers = 5;
    }
    SUBCASE("because servers are being drained") { seen.gpus.block({1, 2}); }
    CHECK_FALSE(over.is_called_home(seen.view(), gang));
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

/// Every GPU more is worth more than the last, and jobs run by batches of seven.
struct Counting final : Division {
  void divide(const ElasticCall&, const ElasticCapacity&, ElasticCapacity,
              std::vector<ElasticShare>&) override {}
  [[nodiscard]] std::optional<Placement> find_workers(const ElasticCall&, const Occupancy&,
                                                      const JobSpec&,
                                                      std::uint32_t) const override {
    return std::nullopt;
  }
  [[nodiscard]] bool worth_a_restart(const ElasticCall&, const ElasticShare&) override {
    return true;
  }
  [[nodiscard]] Allocation allocation(const ElasticCall&, const JobSpec&,
                                      const Placement&) const override {
    return {.local_batch = 7};
  }
  [[nodiscard]] double gained_s(const ElasticCall&, const ElasticShare& share, const Placement& to,
                                double horizon_s) const override {
    ++priced;
    const auto more = static_cast<double>(to.size() - share.job->placement.size());
    return horizon_s * more * more;
  }
  mutable std::size_t priced = 0;
};

/// Jobs that run on GPUs of agent 0, and what of them grows.
struct Growing : Seen {
  void run(const TraceJob& job, const Placement& on) {
    JobView view;
    view.spec = &job.spec;
    view.placement = on;
    running.push_back(view);
    gpus.take(on);
  }
  [[nodiscard]] std::vector<Decision> grow() {
    const View shown = view();
    const Occupancy empty(topology, gpus.servers());
    const Shape shape = shape_of(empty);
    std::vector<ElasticShare> runners;
    for (const JobView& job : running)
      runners.push_back(
          {&job, job.spec->min_workers, job.spec->max_workers, 1e6,
           static_cast<std::uint32_t>(job.placement.size()) / job.spec->gpus_per_worker});
    std::vector<Decision> out;
    over.grow({shown, shape, empty}, division, runners, gpus, out);
    return out;
  }
  Counting division;
  OverPartitions over{std::chrono::seconds(3600), true};
};

Placement range(std::uint32_t first, std::uint32_t last) {
  Placement all;
  for (std::uint32_t g = first; g < last; ++g) all.emplace_back(g);
  return all;
}

TEST_CASE("a job that grows is run as its new size was priced, and says so until it is refused") {
  Growing world;
  const TraceJob job = elastic(1, 0, 24, 1e6);
  world.run(job, range(0, 16));
  const auto out = world.grow();
  REQUIRE(out.size() == 1);
  const Resize& resize = std::get<Resize>(out.front());
  CHECK(resize.placement == range(0, 16));
  CHECK(resize.allocation == Allocation{.workers = 24, .local_batch = 7});
  REQUIRE(world.over.explain(job.spec.id).size() == 1);
  SUBCASE("once only, for some rounds") { CHECK(world.grow().empty()); }
  SUBCASE("the core did not do it") {
    world.over.refused(job.spec.id);
    CHECK(world.over.explain(job.spec.id).empty());
    CHECK(world.grow().size() == 1);
  }
  SUBCASE("the others had too few") {
    world.waiting = std::exchange(world.running, {});
    world.waiting.front().placement.clear();
    world.over.observe(world.view());  // in the same call nothing is known yet
    CHECK(world.over.explain(job.spec.id).front().starts_with("grows"));
    world.now += std::chrono::seconds(5);
    world.over.observe(world.view());
    CHECK(world.over.explain(job.spec.id) ==
          std::vector<std::string>{"asked partitions for 24 workers, and did not get them"});
  }
}

TEST_CASE("no gang grows while a job waits") {
  Growing world;
  const TraceJob job = elastic(1, 0, 24, 1e6);
  world.run(job, range(0, 16));
  SUBCASE("here") {
    world.waiting.resize(1);
    world.waiting.front().spec = &job.spec;
  }
  SUBCASE("there") { world.digest.waiting = 1; }
  CHECK(world.grow().empty());
  world.waiting.clear(), world.digest.waiting = 0;
  CHECK(world.grow().size() == 1);
}

TEST_CASE("no gang grows that has GPUs that are being drained") {
  Growing world;
  const TraceJob job = elastic(1, 0, 24, 1e6);
  world.run(job, range(0, 16));
  world.gpus.block({1, 2});
  CHECK(world.grow().empty());
}

TEST_CASE("a gang that grows gets workers that straddle neither servers nor partitions") {
  Growing world;
  world.gpus = Occupancy(world.topology, {0, 1});
  world.digest.servers = {1, 4};
  world.digest.gpus = world.digest.free = 24;
  world.digest.whole_free_servers = 3;
  TraceJob job = elastic(1, 0, 24, 1e6);
  job.spec.gpus_per_worker = 3;
  world.run(job, range(0, 6));
  const auto out = world.grow();
  REQUIRE(out.size() == 1);
  // Of each of the two servers that are spare there it gets six GPUs; of two that are free here
  // none.
  CHECK(std::get<Resize>(out.front()).placement == range(0, 6));
  CHECK(std::get<Resize>(out.front()).allocation.workers == 6);
}

TEST_CASE("what growing costs is some prices for each job that runs, however many may grow") {
  Growing world;
  std::vector<TraceJob> jobs;
  for (std::uint64_t id = 1; id <= 16; ++id) jobs.push_back(elastic(id, 0, 3, 1e6));
  for (std::uint32_t j = 0; j < 16; ++j) world.run(jobs[j], {GpuId{j}});
  CHECK(world.grow().size() == OverPartitions::kMostGrow);
  // Two GPUs more, the most that any may have; and one, too, for who comes first after others.
  CHECK(world.division.priced <= 16 + 2 * OverPartitions::kMostGrow);
}

TEST_CASE("a gang that starts over partitions asks for no GPU that a job has to leave first") {
  Growing world;
  TraceJob wide = elastic(1, 0, 24, 1e6);
  wide.spec.workers = wide.spec.min_workers = 18;
  const TraceJob other = elastic(2, 0, 4, 1e6);
  world.run(other, range(0, 4));
  world.waiting.resize(1);
  world.waiting.front().spec = &wide.spec;
  const View shown = world.view();
  const Occupancy empty(world.topology, world.gpus.servers());
  const Shape shape = shape_of(empty);
  const std::vector<ElasticShare> waits{{&world.waiting.front(), 18, 24, 1e6}};
  std::vector<Decision> out;
  world.over.start({shown, shape, empty}, world.division, waits, empty, out);
  REQUIRE(out.size() == 1);
  const Spread& spread = std::get<Spread>(out.front());
  CHECK(spread.local == range(4, 16));
  CHECK(spread.allocation == Allocation{.workers = 20, .local_batch = 7});
}

TEST_CASE("an elastic policy takes back what it says of a job once the core refuses it") {
  Growing world;
  const TraceJob job = elastic(1, 0, 24, 1e6);
  world.run(job, range(0, 16));
  const auto policy = make_policy_registry().make("drf:spread=grow").value();
  Rng rng(1);
  const auto out = policy->decide(world.view(), {TriggerKind::round}, rng);
  REQUIRE(out.size() == 1);
  REQUIRE(std::holds_alternative<Resize>(out.front()));
  CHECK(policy->explain(job.spec.id).size() == 1);
  policy->refused({out.front(), DecisionFault::reserved});
  CHECK(policy->explain(job.spec.id).empty());
}

}  // namespace
}  // namespace starling
