// SPDX-License-Identifier: Apache-2.0
#include "sim/run/run_result.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/arrivals.h"
#include "sim/summary.h"
#include "sim/world/timeline.h"

namespace starling {
namespace {

JobRow row(double submit, double start, double finish, double duration, std::uint32_t gpus = 1) {
  JobRow job;
  job.submit_s = submit;
  job.start_s = start;
  job.finish_s = finish;
  job.duration_s = job.service_s = duration;
  job.gpus = gpus;
  job.state = JobPhase::finished;
  return job;
}

RunResult three_jobs() {
  RunResult run;
  run.policy = "fifo:fit=server";
  run.mode = "sim";
  run.gpus = 4;
  run.trace_hash = 0xabc;
  run.jobs = {row(10, 10, 20, 10, 4), row(10, 20, 40, 20, 2), row(30, 40, 50, 10)};
  JobRow failed;
  failed.submit_s = 12;
  failed.state = JobPhase::failed;
  run.jobs.push_back(failed);
  return run;
}

TEST_CASE(
    "the figures of three jobs by hand; a job that failed counts as failed and nowhere else") {
  const RunFigures f = figures(three_jobs());
  CHECK(f.submitted == 4);
  CHECK(f.finished == 3);
  CHECK(f.failed == 1);
  CHECK(f.avg_jct_s == doctest::Approx(20));
  CHECK(f.floor_jct_s == doctest::Approx(40.0 / 3));
  CHECK(f.avg_queue_s == doctest::Approx(20.0 / 3));
  CHECK(f.avg_slowdown == doctest::Approx((1 + 1.5 + 2) / 3));
  CHECK(f.p50_jct_s == 20);
  CHECK(f.p90_jct_s == 30);
  CHECK(f.makespan_s == 40);
  CHECK(f.gpu_utilization == doctest::Approx((40.0 + 40 + 10) / 160));
}

TEST_CASE("utilisation while jobs come leaves out the tail, and a long tail is told") {
  RunResult run = three_jobs();
  // Two GPUs and then all four are busy while jobs come, from 10 s to 30 s; one from then to 50 s.
  run.timeline = {{0, 0, 0}, {10, 2, 1}, {20, 4, 0}, {30, 1, 0}, {50, 0, 0}};
  const ArrivalFigures f = arrival_figures(run);
  CHECK(f.arrivals_s == 20);
  CHECK(f.gpu_utilization == doctest::Approx((2.0 * 10 + 4 * 10) / 80));
  CHECK(f.short_for_its_load);  // 20 s of 40 s are tail
  run.jobs.push_back(row(45, 45, 50, 5));
  CHECK_FALSE(arrival_figures(run).short_for_its_load);
  run.timeline.clear();
  CHECK(arrival_figures(run).gpu_utilization == 0);
  CHECK(arrival_figures(RunResult{}).arrivals_s == 0);
}

TEST_CASE("percentiles are nearest ranks") {
  RunResult run;
  for (int i = 1; i <= 200; ++i) run.jobs.push_back(row(0, 0, i, 1));
  const RunFigures f = figures(run);
  CHECK(f.p50_jct_s == 100);
  CHECK(f.p90_jct_s == 180);
  CHECK(f.p99_jct_s == 198);
}

TEST_CASE("summary.json has exactly the promised keys, in order, and null where nothing applies") {
  RunResult empty;
  empty.mode = "live";
  const std::vector<RunResult> runs = {three_jobs(), empty};
  const auto json = nlohmann::ordered_json::parse(summary_json(runs));
  CHECK(json["schema"] == 1);
  REQUIRE(json["runs"].size() == 2);
  const std::string promised =
      "policy family topology gpus servers agents workload load seed mode jobs_submitted "
      "jobs_finished "
      "jobs_failed floor_jct_s avg_jct_s p50_jct_s p90_jct_s p99_jct_s makespan_s avg_queue_s "
      "avg_slowdown "
      "gpu_utilization preemptions resizes forwards cross_partition_gangs decisions "
      "decision_p50_us "
      "decision_p99_us messages events wall_s trace_hash jobs_unfinished rows_dropped "
      "duplicate_names resolution_s arrivals_s gpu_utilization_arrivals";
  for (const auto& run : json["runs"]) {
    std::string keys;
    for (const auto& [key, value] : run.items()) keys += (keys.empty() ? "" : " ") + key;
    CHECK(keys == promised);
  }
  CHECK(json["runs"][0]["trace_hash"] == "0000000000000abc");
  CHECK(json["runs"][0]["avg_jct_s"] == 20.0);
  CHECK(json["runs"][1]["avg_jct_s"].is_null());
  CHECK(json["runs"][1]["trace_hash"].is_null());
}

TEST_CASE(
    "jobs that never ended and names that come twice are counted, and told apart in jobs.csv") {
  RunResult run = three_jobs();
  run.jobs[0].name = run.jobs[2].name = "train";
  run.jobs[1].state = JobPhase::running;
  CHECK(figures(run).unfinished == 1);
  CHECK(figures(run).duplicates == 1);
  run.dropped = 2;
  const auto json = nlohmann::json::parse(summary_json(std::span(&run, 1)));
  CHECK(json["runs"][0]["jobs_unfinished"] == 1);
  CHECK(json["runs"][0]["rows_dropped"] == 2);
  const auto file = std::filesystem::temp_directory_path() / "starling_duplicates_test.csv";
  REQUIRE(write_jobs_csv(file, run).ok());
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  CHECK(text.str().find("\ntrain,") != std::string::npos);
  CHECK(text.str().find("\ntrain#2,") != std::string::npos);
}

TEST_CASE("jobs.csv: one row a job, quoted where a comma would break it, empty for never") {
  RunResult run = three_jobs();
  run.jobs[0].name = "a,b";
  run.jobs[0].placement = "0-2,5";
  const auto file = std::filesystem::temp_directory_path() / "starling_run_result_test.csv";
  REQUIRE(write_jobs_csv(file, run).ok());
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  std::string line;
  std::getline(text, line);
  CHECK(line ==
        "job,submit_s,start_s,finish_s,gpus,model,agent,placement,attempts,service_s,state");
  std::getline(text, line);
  CHECK(line == "\"a,b\",10.0,10.0,20.0,4,,0,\"0-2,5\",0,10.0,finished");
  std::getline(text, line);
  std::getline(text, line);
  std::getline(text, line);
  CHECK(line.find(",12.0,,,0,") != std::string::npos);
  CHECK_FALSE(write_jobs_csv("/nonexistent/folder/jobs.csv", run).ok());
}

TEST_CASE("a timeline stays within its limit and keeps the last point") {
  Timeline line(100);
  for (std::uint32_t i = 0; i < 5000; ++i) line.note(i, i + 1, 0);
  line.note(6000, 9, 9);
  const std::vector<TimePoint> points = line.points();
  CHECK(points.size() <= 100);
  CHECK(points.size() > 30);
  CHECK(points.back().busy_gpus == 9);
  for (std::size_t i = 1; i < points.size(); ++i) CHECK(points[i].at_s > points[i - 1].at_s);
}

}  // namespace
}  // namespace starling
