#include "launch/report.h"

#include <doctest/doctest.h>

#include "launch/run_timeline.h"
#include "topology/generate.h"

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
  job.submit_s = submit, job.start_s = start, job.finish_s = finish;
  job.gpus = gpus, job.placement = placement, job.service_s = finish - start,
  job.duration_s = finish - start;
  job.state = JobPhase::finished;
  return job;
}

RunResult small_run() {
  RunResult run;
  run.mode = "sim", run.policy = "fifo", run.gpus = 8, run.servers = 2, run.agents = 1;
  run.jobs = {row(0, 0, 10, 4, "0-3"), row(0, 5, 10, 6, "0-1,4-7")};
  run.timeline = timeline_of(run.jobs);
  return run;
}

}  // namespace

TEST_CASE("the distribution ends at the longest job and at one") {
  const auto curve = jct_distribution(small_run(), 100);
  REQUIRE(curve.size() == 2);
  CHECK(curve.back() == std::pair(10.0, 1.0));
}

TEST_CASE("the heat map counts GPUs by server and time") {
  const HeatMap map = heat_map(small_run(), two_servers(), 2, 10);
  REQUIRE(map.rows.size() == 2);
  CHECK(map.bin_s == 5);
  CHECK(map.cells[0] == std::vector<std::uint32_t>{100, 100});
  CHECK(map.cells[1] == std::vector<std::uint32_t>{0, 100});
  CHECK(heat_map(small_run(), two_servers(), 2, 1).rows.size() == 1);
}

TEST_CASE("the timeline counts waiting jobs and busy GPUs") {
  const auto points = timeline_of(small_run().jobs);
  REQUIRE(points.size() == 3);
  CHECK(points[0].busy_gpus == 4);
  CHECK(points[0].waiting == 1);
  CHECK(points[1].busy_gpus == 10);
  CHECK(points[2].busy_gpus == 0);
}

TEST_CASE("the page is whole, and no name can end its script") {
  RunResult run = small_run();
  run.workload = "</script><b>";
  const std::vector<std::string> labels{"simulated"};
  const std::string page = report_html(std::span(&run, 1), labels, two_servers());
  CHECK(page.find("@@") == std::string::npos);
  CHECK(page.find("</script><b>") == std::string::npos);
  CHECK(page.find("http://") == page.find("http://www.w3.org/2000/svg"));
  CHECK(page.find("<link") == std::string::npos);
}

TEST_CASE("the curves of a long run end where the run does") {
  RunResult run = small_run();
  run.timeline.clear();
  for (std::uint32_t i = 0; i <= 10'001; ++i) run.timeline.push_back({i * 1.0, 8, 0});
  run.timeline.push_back({10'001.5, 3, 2});
  const std::vector<std::string> labels{"simulated"};
  const std::string page = report_html(std::span(&run, 1), labels, two_servers());
  CHECK(page.find("[10001.5,3,2]") != std::string::npos);
}
