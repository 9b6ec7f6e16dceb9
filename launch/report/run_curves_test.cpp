// SPDX-License-Identifier: Apache-2.0
#include "launch/report/run_curves.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "launch/report/distribution.h"
#include "topology/generate/generate.h"

using namespace starling;

namespace {

Topology two_servers() {
  GeneratorOptions shape;
  shape.servers = 2;
  shape.gpus_per_server = 4;
  return generate_flat(shape).value();
}

JobRow row(double submit, double start, double finish, std::uint32_t gpus, const char* placement) {
  JobRow job;
  job.name = "j" + std::to_string(static_cast<int>(start));
  job.submit_s = submit, job.start_s = start, job.finish_s = finish;
  job.gpus = gpus, job.placement = placement;
  job.state = JobPhase::finished;
  return job;
}

}  // namespace

TEST_CASE("a distribution ends at the largest and at one") {
  CHECK(distribution({}, 10).empty());
  const auto curve = distribution({3, 1, 2, 4}, 2);
  REQUIRE(curve.size() == 2);
  CHECK(curve[0] == std::pair(2.0, 0.5));
  CHECK(curve[1] == std::pair(4.0, 1.0));
}

TEST_CASE("only finished jobs have a completion time, all that ran were busy") {
  RunResult run;
  run.jobs = {row(0, 0, 10, 4, "0-3"), row(0, 5, 10, 6, "0-1,4-7")};
  run.jobs[1].state = JobPhase::failed;
  CurveLimits limits;
  limits.heat_bins = 2;
  const RunCurves curves = run_curves(run, two_servers(), limits);
  REQUIRE(curves.jct.size() == 1);
  CHECK(curves.jct.back() == std::pair(10.0, 1.0));
  REQUIRE(curves.heat.size() == 2);
  CHECK(curves.heat_bin_s == 5);
  CHECK(curves.heat[0] == std::vector<std::uint32_t>{100, 100});
  CHECK(curves.heat[1] == std::vector<std::uint32_t>{0, 100});
  CHECK(curves.rows[1].first_gpu == 4);
  limits.heat_rows = 1;
  CHECK(run_curves(run, two_servers(), limits).heat.size() == 1);
  CHECK(run_curves(RunResult{}, two_servers()).heat.empty());
}

TEST_CASE("the curves of a long run end where the run does") {
  RunResult run;
  for (std::uint32_t i = 0; i <= 10'001; ++i) run.timeline.push_back({i * 1.0, 8, 0});
  run.timeline.push_back({10'001.5, 3, 2});
  const RunCurves curves = run_curves(run, two_servers());
  CHECK(curves.timeline.size() <= 202);
  CHECK(curves.timeline.back().at_s == 10'001.5);
}

TEST_CASE("the Gantt chart shows all of a short run, and the middle of a long one whole") {
  RunResult run;
  for (int i = 0; i < 100; ++i)
    run.jobs.push_back(row(10.0 * i, 10.0 * i, 10.0 * i + 10, 4, "0-3"));
  run.jobs.push_back(row(0, 0, 1000, 4, "4-7"));  // runs all the time
  CurveLimits limits;
  CHECK(run_curves(run, two_servers(), limits).gantt.size() == 101);
  limits.bars = 21;
  const RunCurves part = run_curves(run, two_servers(), limits);
  CHECK(part.gantt.size() <= 21);
  CHECK(part.gantt.size() >= 19);
  CHECK(part.gantt.front().placement == "4-7");
  CHECK(part.gantt_from_s > 390);
  CHECK(part.gantt_to_s < 610);
  for (const auto& bar : part.gantt) CHECK(bar.finish_s > part.gantt_from_s);
  const auto json = nlohmann::json::parse(curves_json(part));
  CHECK(json.at("gantt").at("bars").size() == part.gantt.size());
  CHECK(json.at("gantt").at("bars")[0][5] == "4-7");
}

TEST_CASE("bins have round lengths that cover the span") {
  CHECK(round_bin(600, 60) == 10);
  CHECK(round_bin(601, 60) == 15);
  CHECK(round_bin(5 * 86400, 60) == 7200);
  CHECK(round_bin(0.5, 10) == doctest::Approx(0.05));
  CHECK(round_bin(100.0 * 86400, 60) == 2 * 86400);
  CHECK(round_bin(3000.0 * 86400, 60) == doctest::Approx(50.0 * 86400));
  for (double span = 0.001; span < 1e9; span *= 1.7)
    CHECK(round_bin(span, 60) * 60 >= span * 0.999);
}
