#include "launch/report/run_page.h"

#include <doctest/doctest.h>

#include "launch/report/page.h"
#include "launch/report/run_curves.h"
#include "launch/report/test_browser.h"
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
  run.timeline = {{0, 4, 1}, {5, 8, 0}, {10, 0, 0}};
  return run;
}

}  // namespace

TEST_CASE("the page is whole, and no name can end its script") {
  RunResult run = small_run();
  run.workload = "</script><b>";
  const std::vector<std::string> labels{"simulated"};
  const std::string page = run_page(std::span(&run, 1), labels, two_servers(), "");
  CHECK(page.find("@@") == std::string::npos);
  CHECK(page.find("</script><b>") == std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("<link") == std::string::npos);
  CHECK(count_of(page, "</script>") == 3);
  const std::string hostile = run_page(std::span(&run, 1), labels, two_servers(), "x='</script>'");
  CHECK(count_of(hostile, "</script>") == 3);
}

TEST_CASE("a page gives its data back, so that it can be made anew") {
  const RunResult run = small_run();
  const std::vector<std::string> labels{"simulated"};
  const std::string page = run_page(std::span(&run, 1), labels, two_servers(), "lib()");
  const auto data = page_data(page);
  REQUIRE(data.ok());
  CHECK(fill_page(kRunPage, data.value(), "lib()") == page);
  CHECK_FALSE(page_data("<html></html>").ok());
}

TEST_CASE("a browser draws the page of a run") {
  const TestBrowser browser("run-page");
  if (!browser.usable()) return;
  std::vector<RunResult> runs{small_run(), small_run()};
  runs[0].mode = "live";
  const std::vector<std::string> labels{"live", "simulated"};
  std::string dom = browser.dom(run_page(runs, labels, two_servers(), ""));
  CHECK(dom.find("data-ready=\"yes\"") != std::string::npos);
  CHECK(dom.find("id=\"nocharts\" class=\"card\">") != std::string::npos);  // no longer hidden
  CHECK(count_of(dom, "<tr>") > 20);
  const auto echarts = browser.echarts();
  if (echarts.empty()) return;
  dom = browser.dom(run_page(runs, labels, two_servers(), echarts));
  CHECK(dom.find("data-ready=\"yes\"") != std::string::npos);
  // Distribution, GPUs, waiting, heat and Gantt.
  CHECK(count_of(dom, "_echarts_instance_=\"ec_") == 5);
  // A person hovers over a bar, and moves the slider of the servers.
  std::string page = run_page(runs, labels, two_servers(), echarts);
  page.insert(page.rfind("</body>"), R"(<script>
plots.gantt.dispatchAction({type: 'showTip', seriesIndex: 0, dataIndex: 1});
plots.gantt.dispatchAction({type: 'dataZoom', dataZoomIndex: 1, start: 50, end: 100});
document.body.dataset.first = plots.gantt.getOption().yAxis[0].axisLabel.customValues[0];
</script>)");
  dom = browser.dom(page);
  CHECK(dom.find("waited 5 s") != std::string::npos);
  CHECK(dom.find("data-first=\"4\"") != std::string::npos);
  // A run in which nothing happened says so instead.
  RunResult idle = small_run();
  idle.jobs.clear();
  idle.timeline.clear();
  dom = browser.dom(
      run_page(std::span(&idle, 1), std::span(labels).first(1), two_servers(), echarts));
  CHECK(dom.find("data-ready=\"yes\"") != std::string::npos);
  CHECK(count_of(dom, "there is nothing to draw.</p>") == 5);
}
