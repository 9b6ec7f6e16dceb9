// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/prepare.h"

#include <doctest/doctest.h>

#include <set>

#include "base/test_data.h"
#include "workload/stats.h"

using namespace starling;

namespace {

Topology mixed() {
  TopologySource source;
  source.generator = "flat";
  source.options.groups = {{2, "V100"}, {2, "K80"}};
  source.options.gpus_per_server = 4;
  return open_topology(source).value();
}

Trace jobs(std::vector<std::uint32_t> gangs) {
  Trace trace;
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    TraceJob& job = trace.jobs.emplace_back();
    job.submit = from_seconds(static_cast<double>(100 * i));
    job.spec.duration = from_seconds(50);
    job.spec.workers = 1;
    job.spec.gpus_per_worker = gangs[i];
  }
  return trace;
}

WorkloadSource from_file() {
  WorkloadSource source;
  source.file = "x.csv";
  return source;
}

}  // namespace

TEST_CASE("the offered load is what is asked for") {
  const Topology topology = mixed();
  for (const double load : {0.7, 1.1}) {
    const auto trace =
        prepare_jobs(jobs({4, 1, 2, 1}), from_file(), {}, topology, load, 1, PhysicsKind::trace);
    CHECK(offered_load(summarize(trace.value()), topology.gpu_count()) == doctest::Approx(load));
    // Where physics knows the types, slow GPUs are less capacity, so jobs come later.
    const auto full =
        prepare_jobs(jobs({4, 1, 2, 1}), from_file(), {}, topology, load, 1, PhysicsKind::full);
    CHECK(full.value().jobs.back().submit > trace.value().jobs.back().submit);
  }
}

TEST_CASE("gangs are cut and laid out for the servers there are") {
  WorkloadSource source = from_file();
  TopologySource small;
  small.gang_max = 8;
  source.gang_max = 32;
  const auto trace =
      prepare_jobs(jobs({64, 8, 6, 1}), source, small, mixed(), 0, 1, PhysicsKind::trace);
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  const auto& out = trace.value().jobs;
  CHECK(out[0].spec.gpus() == 8);
  CHECK(out[0].spec.gpus_per_worker == 4);  // servers have 4
  CHECK(out[1].spec.workers == 2);
  CHECK(out[2].spec.gpus_per_worker == 1);  // 6 is no multiple of 4
  CHECK(out[3].spec.gpus() == 1);
}

TEST_CASE("a job that can never fit is refused with what helps") {
  const auto trace = prepare_jobs(jobs({64}), from_file(), {}, mixed(), 0, 1, PhysicsKind::trace);
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().message.find("gang_max") != std::string::npos);
}

TEST_CASE("models are drawn by the seed, and equal seeds draw alike") {
  WorkloadSource source = from_file();
  source.draw_models = true;
  const std::vector<std::uint32_t> gangs(200, 1);
  const auto draw = [&](std::uint64_t seed) {
    const auto trace =
        prepare_jobs(jobs(gangs), source, {}, mixed(), 0.9, seed, PhysicsKind::trace).value();
    std::vector<std::string> models;
    for (const TraceJob& job : trace.jobs) models.push_back(job.spec.model);
    return models;
  };
  CHECK(draw(1) == draw(1));
  CHECK(draw(1) != draw(2));
  const auto models = draw(1);
  CHECK(std::set<std::string>(models.begin(), models.end()).size() > 10);
}

TEST_CASE("elastic jobs grow to a multiple of what they ask for, and no further than gang_max") {
  WorkloadSource source = from_file();
  source.elastic = 2;
  source.gang_max = 6;
  const auto out =
      prepare_jobs(jobs({1, 4}), source, {}, mixed(), 0, 1, PhysicsKind::trace).value().jobs;
  CHECK(out[0].spec.min_workers == 1);
  CHECK(out[0].spec.max_workers == 2);
  CHECK(out[1].spec.workers == 4);
  CHECK(out[1].spec.max_workers == 6);
}

TEST_CASE("durations are clipped") {
  WorkloadSource source = from_file();
  source.duration_min = from_seconds(60);
  CHECK(prepare_jobs(jobs({1}), source, {}, mixed(), 0, 1, PhysicsKind::trace)
            .value()
            .jobs[0]
            .spec.duration == from_seconds(60));
}

TEST_CASE("every generator makes jobs for the cluster") {
  for (const char* kind : {"philly-like", "helios-like", "gavel-continuous", "dl2-like"}) {
    CAPTURE(kind);
    WorkloadSource source;
    source.generator = kind;
    source.jobs = 100;
    source.gang_max = 8;
    const auto trace = prepare_jobs({}, source, {}, mixed(), 0.9, 3, PhysicsKind::trace);
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    CHECK(trace.value().jobs.size() == 100);
  }
}

TEST_CASE("a week of Philly has 3,000 jobs and the same ones each time" *
          doctest::test_suite("published data")) {
  const auto file = test_data("philly/jobs.csv.gz");
  if (!file) return;
  WorkloadSource source;
  source.file = *file;
  source.from = from_seconds(63 * 86'400);
  source.length = from_seconds(7 * 86'400);
  source.jobs = 3000;
  CHECK(open_workload(source).value().jobs.size() == 3000);
}
