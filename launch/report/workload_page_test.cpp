// SPDX-License-Identifier: Apache-2.0
#include "launch/report/workload_page.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "launch/report/test_browser.h"
#include "workload/generate/generate_helios.h"

using namespace starling;

namespace {

TraceJob job(double submit_s, double duration_s, std::uint32_t gpus, const char* user) {
  TraceJob job;
  job.submit = from_seconds(submit_s);
  job.spec.duration = from_seconds(duration_s);
  job.spec.gpus_per_worker = gpus;
  job.spec.user = user;
  return job;
}

}  // namespace

TEST_CASE("the curves of a trace count its jobs, GPU hours and demand") {
  Trace trace{"t", {job(0, 3600, 1, "a"), job(1800, 7200, 4, "b"), job(3600, 3600, 8, "a")}, 0};
  const TraceCurves curves = trace_curves(trace, 2);
  REQUIRE(curves.durations.size() == 4);  // all, and three classes that have jobs
  CHECK(curves.durations[0].jobs == 3);
  CHECK(curves.durations[2].name == "2 to 4 GPUs");
  REQUIRE(curves.gangs.size() == 3);
  CHECK(curves.gangs[1].name == "4");
  CHECK(curves.gangs[1].gpu_hours == doctest::Approx(8));
  REQUIRE(curves.users.size() == 2);
  CHECK(curves.users[0].name == "a");
  CHECK(curves.users[0].gpu_hours == doctest::Approx(9));
  CHECK(curves.models.empty());
  CHECK(curves.bin_s == 1800);
  CHECK(curves.jobs_per_hour == std::vector<double>{2, 4});
  CHECK(curves.demand_gpus == std::vector<double>{1, 5});
  CHECK(trace_curves(Trace{}).durations.empty());
}

TEST_CASE("many sizes and many users become few") {
  Trace trace{"t", {}, 0};
  for (int i = 1; i <= 40; ++i)
    trace.jobs.push_back(
        job(i, 60, static_cast<std::uint32_t>(i), ("u" + std::to_string(i)).c_str()));
  const TraceCurves curves = trace_curves(trace);
  REQUIRE(curves.gangs.size() == 7);
  CHECK(curves.gangs[3].name == "5–8");
  CHECK(curves.gangs[3].jobs == 4);
  REQUIRE(curves.users.size() == TraceCurves::kSharesMax);
  CHECK(curves.users.back().name == "26 others");
  std::uint64_t jobs = 0;
  for (const auto& user : curves.users) jobs += user.jobs;
  CHECK(jobs == 40);
}

TEST_CASE("a browser draws the page of a trace" * needs_browser()) {
  const TestBrowser browser("workload-page");
  HeliosGeneratorOptions options;
  options.jobs = 500;
  const Trace trace = generate_helios_trace(options).value();
  std::string dom = browser.dom(workload_page(trace, 1024));
  CHECK(dom.find("Load of 1,024 GPUs") != std::string::npos);
  // Durations, jobs, GPU hours, submissions, load and shares.
  const std::size_t named = count_of(dom, "there is nothing to draw.</p>") +
                            count_of(dom, "names no users, queues or models.</p>");
  CHECK(count_of(dom, "class=\"tools\"") + named == 6);
  // A trace of one job that names no user.
  const Trace one{"</script>", {job(0, 60, 1, "")}, 0};
  dom = browser.dom(workload_page(one, 0));
}
