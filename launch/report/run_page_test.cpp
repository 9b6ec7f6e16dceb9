// SPDX-License-Identifier: Apache-2.0
#include "launch/report/run_page.h"

#include <doctest/doctest.h>

#include "launch/report/page.h"
#include "launch/report/test_browser.h"
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
  const std::string page = run_page(std::span(&run, 1), labels, two_servers());
  CHECK(page.find("@@") == std::string::npos);
  CHECK(page.find("</script><b>") == std::string::npos);
  CHECK_FALSE(names_a_host(page));
  CHECK(page.find("<link") == std::string::npos);
  CHECK(count_of(page, "</script>") == 2);
}

TEST_CASE("a page gives its data back, so that it can be made anew") {
  const RunResult run = small_run();
  const std::vector<std::string> labels{"simulated"};
  const std::string page = run_page(std::span(&run, 1), labels, two_servers());
  const auto data = page_data(page);
  REQUIRE(data.ok());
  CHECK(fill_page(kRunPage, data.value()) == page);
  CHECK_FALSE(page_data("<html></html>").ok());
}

TEST_CASE("a browser draws the page of a run" * needs_browser()) {
  const TestBrowser browser("run-page");
  std::vector<RunResult> runs{small_run(), small_run()};
  runs[0].mode = "live";
  const std::vector<std::string> labels{"live", "simulated"};
  const std::string page = run_page(runs, labels, two_servers());
  // A person points at a bar, then drags over the second server's GPUs.
  std::string dom = browser.dom(page, R"(
const svg = () => $('gantt').querySelector('svg'), fire = (on, type, x, y) =>
  on.dispatchEvent(new PointerEvent(type, {clientX: x, clientY: y, bubbles: true, button: 0, pointerId: 1}));
svg().scrollIntoView();
const bar = svg().querySelector('[data-i="1"]').getBoundingClientRect(), all = svg().getBoundingClientRect();
fire(svg().querySelector('[data-i="1"]'), 'pointermove', bar.x + 1, bar.y + 1);
document.body.dataset.told = document.querySelector('.tip').textContent;
svg().setPointerCapture = () => {};
fire(svg(), 'pointerdown', all.x + all.width * 0.2, all.y + all.height * 0.6);
fire(svg(), 'pointermove', all.x + all.width * 0.9, all.y + all.height * 0.8);
fire(svg(), 'pointerup', all.x + all.width * 0.9, all.y + all.height * 0.8);
look();
document.body.dataset.low = plots.gantt.view.y[0];
document.body.dataset.short = shortened(['smart-greedy:threshold=0.3, 4 agents', 'smart-greedy:threshold=0.5, 4 agents'], 20).join(' ');
document.body.dataset.axis = rangeOf({}, [3.4, 3.6]).min > 3 && rangeOf({}, [1, 3.6]).min === 0;
)");
  CHECK(count_of(dom, "<tr>") > 20);
  // Distribution, GPUs, waiting, heat and Gantt.
  CHECK(count_of(dom, "class=\"tools\"") == 5);
  CHECK(dom.find("waited 5 s") != std::string::npos);
  CHECK(dom.find("data-low=\"5") != std::string::npos);
  CHECK(dom.find("show all") != std::string::npos);
  // Names that differ stay different; lines that would lie on one another do not begin at 0.
  CHECK(dom.find("data-short=\"smart-greedy:threshold=0.3") == std::string::npos);
  CHECK(dom.find("0.3, 4 agents smart") != std::string::npos);
  CHECK(dom.find("data-axis=\"true\"") != std::string::npos);
  // A run in which nothing happened says so instead.
  RunResult idle = small_run();
  idle.jobs.clear();
  idle.timeline.clear();
  dom = browser.dom(run_page(std::span(&idle, 1), std::span(labels).first(1), two_servers()));
  CHECK(count_of(dom, "there is nothing to draw.</p>") == 5);
}
