// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/elastic.h"

#include <doctest/doctest.h>

#include <array>

#include "interference/goodput/profiles.h"
#include "interference/models.h"
#include "interference/profile.h"
#include "policies/elastic/batches.h"
#include "policies/elastic/elastic_jobs_test.h"
#include "policies/elastic/elastic_speeds_test.h"
#include "policies/testing/test_world.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

TEST_CASE("workers go evenly onto the fewest servers that hold them") {
  const Topology topology = servers(3);
  Occupancy gpus(topology, {0, 3});
  JobSpec job;
  CHECK(place_evenly(gpus, job, 8)->size() == 8);
  const Placement twelve = place_evenly(gpus, job, 12).value();
  std::uint32_t first = 0;
  for (const GpuId gpu : twelve) first += topology.server_of(gpu).value == 0 ? 1 : 0;
  CHECK(first == 6);
  gpus.take(gpus.free_gpus(ServerId{0}, 3));
  CHECK(topology.server_of(place_evenly(gpus, job, 6)->front()).value == 1);
  CHECK(!place_evenly(gpus, job, 22).has_value());
}

TEST_CASE("work that an attempt did is counted once, however often the job is resized") {
  // Multiplying what attempts that are over did by their speed again would make a job that was
  // resized look nearly done.
  const Topology topology = servers(1);
  const Occupancy gpus(topology, {0, 1});
  JobSpec spec = elastic(1, 0, 8, 10'000).spec;
  const EarlyPeak peak;
  JobView job;
  job.spec = &spec;
  ElasticProgress progress;
  const auto look = [&](double served_s, std::uint32_t on) {
    job.served = from_seconds(served_s);
    job.placement.clear();
    if (on > 0) job.placement = gpus.free_gpus(ServerId{0}, on);
    const std::span<const JobView> one(&job, 1);
    const View view{topology, gpus, {}, one, {}, peak, Instant{}, AgentId{0}};
    progress.observe(view);
    return progress.done_s(spec.id);
  };
  CHECK(look(0, 2) == 0);
  CHECK(look(100, 2) == doctest::Approx(180));  // 100 s of wall time at 1.8
  CHECK(look(180, 1) == doctest::Approx(180));  // 180 s of work; now on one GPU
  CHECK(look(280, 1) == doctest::Approx(280));
  CHECK(progress.left_s(spec) == doctest::Approx(9720));
  CHECK(look(280, 0) == doctest::Approx(280));
  // Without an estimate as much as it has done; past a wrong one a little, not nothing.
  spec.duration = Duration{0};
  CHECK(progress.left_s(spec) == doctest::Approx(280));
  spec.duration = from_seconds(100);
  CHECK(progress.left_s(spec) == doctest::Approx(14));
}

TEST_CASE("of more jobs than there is room to keep those that have done most are kept") {
  const Topology topology = servers(1);
  const Occupancy gpus(topology, {0, 1});
  const EarlyPeak peak;
  std::vector<JobSpec> specs(4000);
  std::vector<JobView> jobs(specs.size());
  for (std::uint32_t i = 0; i < specs.size(); ++i) {
    specs[i].id = JobId{1, i};
    jobs[i].spec = &specs[i];
    jobs[i].served = std::chrono::seconds(i);
  }
  ElasticProgress progress;
  progress.observe({topology, gpus, jobs, {}, {}, peak, Instant{}, AgentId{0}});
  constexpr std::size_t kRoom = 100'000;
  MemoryWriter out;
  progress.save(out, Instant{}, kRoom);
  CHECK(out.bytes().size() <= kRoom);
  CHECK(out.bytes().size() > kRoom - 200);
  ElasticProgress next;
  MemoryReader in(out.bytes());
  next.restore(in, Instant{});
  REQUIRE(in.whole());
  CHECK(next.done_s(JobId{1, 3999}) == doctest::Approx(3999));
}

TEST_CASE(
    "a job that comes between rounds starts at once, and one that stays takes what none waits "
    "for") {
  const Topology topology = servers(1);
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  trace.jobs = {elastic(1, 0, 2, 3000), elastic(2, 10, 2, 3000), elastic(3, 20, 8, 9000)};
  for (const std::string name : {"drf", "optimus"}) {
    CAPTURE(name);
    TestWorld world(topology, registry, name, {});
    world.run(trace);
    CHECK(world.faults.empty());
    // No job waits for the round at 600 s: 2 GPUs do 1.96 times what one does, 4 do 3.77 times.
    CHECK(seconds(world.jobs[0].finished - Instant{}) == doctest::Approx(1530).epsilon(0.01));
    CHECK(seconds(world.jobs[1].finished - Instant{}) == doctest::Approx(1540).epsilon(0.01));
    CHECK(world.preemptions == 0);
    TestWorld waits(topology, registry, name + ":between=wait", {});
    waits.run(trace);
    CHECK(seconds(waits.jobs[1].finished - Instant{}) > 2000);
    if (name == "optimus") {
      // At 1,530 s it takes the GPUs of the first, at 1,540 s those of the second.
      CHECK(world.resizes == 2);
      CHECK(seconds(world.jobs[2].finished - Instant{}) < 2300);
    }
  }
}

TEST_CASE("a batch is chosen between what was asked for and the largest, and fits the GPUs") {
  const Topology topology = servers(2);
  const Occupancy gpus(topology, {0, 2});
  const auto speed = make_analytic_speed(topology);
  const View view{topology, gpus, {}, {}, {}, *speed, Instant{}, AgentId{0}};
  const BatchLimits limits = goodput_profile(model_profile("resnet18"))->limits;
  BatchChoices choices;
  JobSpec job;
  job.model = "resnet18";
  job.workers = 2;
  std::uint32_t last = 0;
  for (const std::uint32_t size : {1U, 2U, 4U, 8U}) {
    CAPTURE(size);
    const Placement placement = gpus.free_gpus(ServerId{0}, size);
    const Allocation how = choices.best(view, job, placement);
    const std::uint32_t batch = how.workers * how.local_batch * (how.accumulation + 1);
    CHECK(how.workers == size);
    CHECK(how.local_batch <= limits.most_local);
    CHECK(batch >= std::min(2U, size) * limits.own);
    CHECK(batch <= limits.largest);
    CHECK(batch >= last);
    last = batch;
    const JobProfile profile = profile_of(job, size);
    // No worse than its own batch on each GPU, but for what lies between two candidates.
    const Allocation own{size, 0, static_cast<std::uint32_t>(limits.own), 0, false};
    CHECK(speed->pace(profile, placement, {}, how) >
          0.995 * speed->pace(profile, placement, {}, own));
  }
  job.gpus_per_worker = 2;
  job.workers = 1;
  const Placement four = gpus.free_gpus(ServerId{0}, 4);
  const Allocation pairs = choices.best(view, job, four);
  CHECK(pairs.workers == 2);
  JobSpec single = job;
  single.gpus_per_worker = 1, single.workers = 2;
  CHECK(pairs.local_batch == 2 * choices.best(view, single, four).local_batch);
  job.model = "resnet18 (parameter servers)";
  CHECK(choices.best(view, job, four).as_asked());
  job.model = "nobody's";
  CHECK(choices.best(view, job, four).as_asked());
}

/// Tells what is left of each job with one worker.
class Asks final : public Division {
 public:
  explicit Asks(std::vector<double>& rests) : rests_(rests) {}
  void divide(const ElasticCall& call, const ElasticCapacity&, ElasticCapacity,
              std::vector<ElasticShare>& shares) override {
    for (const ElasticShare& share : shares)
      rests_.push_back(speeds_.rest_s(*this, call, share, 1));
  }
  [[nodiscard]] std::optional<Placement> find_workers(const ElasticCall&, const Occupancy& gpus,
                                                      const JobSpec& job,
                                                      std::uint32_t workers) const override {
    return place_evenly(gpus, job, workers);
  }
  [[nodiscard]] bool worth_a_restart(const ElasticCall&, const ElasticShare&) override {
    return false;
  }

 private:
  std::vector<double>& rests_;
  ElasticSpeeds speeds_;
};

TEST_CASE("speeds are remembered by the GPU types that a job allows, too") {
  GeneratorOptions generated;
  generated.groups = {{1, "K80"}, {1, "V100"}};
  const Topology topology = generate_flat(generated).value();
  const Occupancy gpus(topology, {0, 2});
  const TwoTypes model(topology);
  std::array<JobSpec, 2> specs{elastic(1, 0, 1, 1000).spec, elastic(2, 0, 1, 1000).spec};
  specs[0].gpu_types = {"V100"};
  specs[1].gpu_types = {"K80"};
  std::array<JobView, 2> waiting;
  for (std::size_t i = 0; i < 2; ++i) {
    waiting[i].spec = &specs[i];
    waiting[i].order = i;
  }
  const PolicyFacts facts{.name = "asks", .summary = "asks for speeds", .family = Family::elastic};
  std::vector<double> rests;
  ElasticPolicy policy(facts, {std::chrono::seconds(600), true}, std::make_unique<Asks>(rests));
  Rng rng(1);
  (void)policy.decide({topology, gpus, waiting, {}, {}, model, Instant{}, AgentId{0}}, {}, rng);
  REQUIRE(rests.size() == 2);
  CHECK(rests[1] > 1.5 * rests[0]);
}

TEST_CASE("workers that find no place go to the next job") {
  // Three servers of 8 GPUs with workers of 3 hold six, not the eight that the count of GPUs says.
  const Topology topology = servers(3);
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  trace.jobs = {elastic(1, 0, 8, 10'000), elastic(2, 0, 6, 10'000)};
  trace.jobs[0].spec.gpus_per_worker = 3;
  TestWorld world(topology, registry, "optimus", {});
  world.run(trace);
  CHECK(world.faults.empty());
  CHECK(world.jobs[0].started == Instant{});
  CHECK(world.jobs[1].started == Instant{});
}

}  // namespace
}  // namespace starling
