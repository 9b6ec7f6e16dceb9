// SPDX-License-Identifier: Apache-2.0
// The published simulator's rules, by hand on a few jobs, and on a whole trace.
#include "sim/published/muri/muri_simulator.h"

#include <doctest/doctest.h>

#include "base/test_data.h"
#include "sim/published/muri/muri_policies.h"

using namespace starling;

namespace {

MuriJob job(double submit_s, std::uint32_t gpus, double iterations, double overhead_s = 0) {
  MuriJob job;
  job.submit_s = submit_s;
  job.gpus = gpus;
  job.iteration_s = 1;
  job.iterations_left = iterations;
  job.overhead_s = overhead_s;
  return job;
}

}  // namespace

TEST_CASE("a shorter job takes the place of a longer one, which goes on later") {
  MuriShortest srtf(false);
  const MuriFigures figures = run_muri({job(0, 64, 100), job(10, 64, 20)}, srtf);
  CHECK(figures.jobs == 2);
  CHECK(figures.makespan_s == 120);
  CHECK(figures.mean_jct_s == (120 + 20) / 2.0);
  CHECK(figures.p99_jct_s == 120);
}

TEST_CASE("each event costs a running job its overhead") {
  MuriShortest srtf(false);
  // The one that comes at 10 takes GPUs beside it: 5 s of the first 10 were overhead. From there
  // on nothing happens until it ends, and nothing is lost.
  CHECK(run_muri({job(0, 8, 100, 5), job(10, 8, 1000)}, srtf).mean_jct_s == (105 + 1000) / 2.0);
}

TEST_CASE("SRSF counts GPUs, SRTF does not") {
  const std::vector<MuriJob> jobs = {job(0, 64, 10), job(0, 8, 20)};
  MuriShortest srtf(false), srsf(true);
  CHECK(run_muri(jobs, srtf).mean_jct_s == (10 + 30) / 2.0);
  CHECK(run_muri(jobs, srsf).mean_jct_s == (20 + 30) / 2.0);
}

TEST_CASE("a gang of a server's size at most stays on one, a larger one takes whole ones") {
  MuriShortest srtf(false);
  // Nine gangs of five: one a server.
  CHECK(run_muri(std::vector<MuriJob>(9, job(0, 5, 10)), srtf).makespan_s == 20);
  // 16 GPUs are free on every server but one, and no two servers are whole.
  std::vector<MuriJob> jobs(7, job(0, 1, 10));
  for (MuriJob& small : jobs) small.gpus = 6;
  jobs.push_back(job(0, 16, 15));
  CHECK(run_muri(jobs, srtf).makespan_s == 25);
  // What does not fit at all does not end, and nothing hangs.
  CHECK(run_muri({job(0, 72, 10)}, srtf).jobs == 0);
}

TEST_CASE("Tiresias leaves a queue by service, and runs the jobs that ran within one") {
  MuriTiresias las;
  // The first leaves its queue after ceil(3250 / 64) = 51 s, and the second runs its 30 s.
  const MuriFigures figures = run_muri({job(0, 64, 1000), job(10, 64, 30)}, las);
  CHECK(figures.mean_jct_s == (1030 + (51 + 30 - 10)) / 2.0);
}

TEST_CASE("a published trace, figure by figure" * doctest::test_suite("published data")) {
  const auto file = test_data("muri/trace3_vc_2869ce.csv.gz");
  if (!file) return;
  const auto jobs = read_muri_jobs(*file, false);
  REQUIRE_MESSAGE(jobs.ok(), jobs.error().message);
  MuriShortest srtf(false), srsf(true);
  MuriTiresias las;
  const auto near = [](double x) { return doctest::Approx(x).epsilon(1e-7); };
  CHECK(run_muri(jobs.value(), srtf).mean_jct_s == near(193081.796));
  CHECK(run_muri(jobs.value(), srsf).mean_jct_s == near(185021.8802));
  const MuriFigures tiresias = run_muri(jobs.value(), las);
  CHECK(tiresias.jobs == 992);
  CHECK(tiresias.mean_jct_s == near(347213.2481));
  CHECK(tiresias.makespan_s == near(8174226.28));
}
