// SPDX-License-Identifier: Apache-2.0
// Groups that take turns, by hand on a few jobs, and figures as they were published.
#include "sim/published/muri/muri_interleaving.h"

#include <doctest/doctest.h>

#include "base/test_data.h"

using namespace starling;

namespace {

constexpr double kForTwo = 1.33 / 1.015;  // as measured: an iteration of two takes longer

MuriJob staged(std::uint32_t gpus, double iterations, std::array<double, 3> stages) {
  MuriJob job;
  job.gpus = gpus;
  job.iteration_s = stages[0] + stages[1] + stages[2];
  job.iterations_left = iterations;
  job.duration_s = job.left_s();
  job.stages_s = stages;
  return job;
}

double mean_jct_s(const char* name, ServiceOrder service) {
  const auto file = test_data(name);
  if (!file) return -1;
  const auto jobs = read_muri_jobs(*file, false);
  REQUIRE_MESSAGE(jobs.ok(), jobs.error().message);
  MuriOptions options;
  options.service = service;
  MuriInterleaving policy(options);
  const MuriFigures figures = run_muri(jobs.value(), policy);
  CHECK(figures.jobs == jobs.value().size());
  return figures.mean_jct_s;
}

}  // namespace

TEST_CASE("two that use unlike stages take turns in the time of the longer turns") {
  StageGroups groups({1, 1, 1});
  const std::uint32_t loads = groups.kind_of({10, {9, 1, 0}});
  const std::uint32_t computes = groups.kind_of({10, {1, 9, 0}});
  CHECK(groups.kind_of({10, {9, 1, 0}}) == loads);
  const std::array<std::uint32_t, 2> both = {loads, computes}, alike = {computes, computes};
  // One loads for 9 s while the other computes; then for 1 s the other way round.
  CHECK(groups.iteration_s(both, StageOrder::best) == doctest::Approx(10));
  CHECK(groups.used(both, StageOrder::best) == doctest::Approx(20 / 40.0));
  CHECK(groups.iteration_s(alike, StageOrder::best) == doctest::Approx(18));  // one GPU for both
  CHECK(groups.iteration_s(alike, StageOrder::worst) >=
        groups.iteration_s(alike, StageOrder::best));
  const std::array<std::uint32_t, 1> alone = {loads};
  CHECK(groups.iteration_s(alone, StageOrder::worst) == 10);
}

TEST_CASE("jobs share GPUs only where that is quicker than one after the other") {
  const auto run = [](const std::vector<MuriJob>& jobs) {
    MuriInterleaving policy({});
    return run_muri(jobs, policy);
  };
  // 64 GPUs: only one of them has room.
  const MuriFigures unlike = run({staged(64, 10, {9, 1, 0}), staged(64, 10, {1, 9, 0})});
  CHECK(unlike.makespan_s == doctest::Approx(100 * kForTwo));
  CHECK(unlike.mean_jct_s == doctest::Approx(100 * kForTwo));
  const MuriFigures alike = run({staged(64, 10, {0, 10, 0}), staged(64, 10, {0, 10, 0})});
  CHECK(alike.mean_jct_s == doctest::Approx((100 + 200) / 2.0));
  // Where both have room, neither shares.
  CHECK(run({staged(32, 10, {9, 1, 0}), staged(32, 10, {1, 9, 0})}).makespan_s ==
        doctest::Approx(100));
}

TEST_CASE("a job that shares pays for the starts of all at each event") {
  std::vector<MuriJob> jobs = {staged(64, 10, {9, 1, 0}), staged(64, 10, {1, 9, 0})};
  jobs[0].overhead_s = 3;
  jobs[1].overhead_s = 4;
  jobs.push_back(staged(64, 1, {0, 1, 0}));
  jobs.back().submit_s = 50;
  MuriInterleaving policy({});
  // The one that comes at 50 has the GPUs for a second, or goes with the others. Either way two
  // events have cost each of the two 7 s at least.
  CHECK(run_muri(jobs, policy).makespan_s > 100 * kForTwo + 7);
}

TEST_CASE("mean JCTs of trace 3, to the digits published" * doctest::test_suite("published data")) {
  if (!test_data("muri/trace3_vc_2869ce.csv.gz")) return;
  const auto near = [](double x) { return doctest::Approx(x).epsilon(1e-9); };
  CHECK(mean_jct_s("muri/trace3_vc_2869ce.csv.gz", ServiceOrder::least_received) ==
        near(88686.97313));
  CHECK(mean_jct_s("muri/trace3_job_types_1.csv.gz", ServiceOrder::least_left) ==
        near(182804.0161));
  CHECK(mean_jct_s("muri/trace3_job_types_1.csv.gz", ServiceOrder::queues) == near(342921.6979));
  CHECK(mean_jct_s("muri/trace3_job_types_2.csv.gz", ServiceOrder::least_left) == near(135643.09));
  CHECK(mean_jct_s("muri/trace3_job_types_3.csv.gz", ServiceOrder::least_left) ==
        near(90861.63341));
  CHECK(mean_jct_s("muri/trace3_job_types_3.csv.gz", ServiceOrder::least_received) ==
        near(101383.3536));
}
