#include "launch/experiment/results.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "topology/generate.h"
#include "workload/test_folder.h"
#include "workload/text_file.h"

using namespace starling;

namespace {

RunResult small_run(double wait_s) {
  RunResult run;
  run.policy = "p";
  run.mode = "sim";
  run.gpus = 8;
  run.servers = 2;
  run.agents = 1;
  for (int i = 0; i < 20; ++i) {
    JobRow& job = run.jobs.emplace_back();
    job.name = "job" + std::to_string(i);
    job.submit_s = 10.0 * i;
    job.start_s = job.submit_s + wait_s;
    job.finish_s = job.start_s + 500;
    job.duration_s = job.service_s = 500;
    job.gpus = 2;
    job.placement = i % 2 == 0 ? "0-1" : "2,5";
    job.state = JobPhase::finished;
    run.timeline.push_back({job.start_s, static_cast<std::uint32_t>(i % 8), 1});
  }
  return run;
}

Topology two_servers() {
  GeneratorOptions shape;
  shape.servers = 2;
  shape.gpus_per_server = 4;
  return generate_flat(shape).value();
}

/// A folder with one table of two policies at two loads.
void write_folder(const std::filesystem::path& dir, const std::string& name) {
  Manifest manifest{name, "</script><b>bold", "evaluation", "slow", "trace", {}};
  std::filesystem::create_directories(dir / "runs");
  int id = 0;
  for (const double load : {0.7, 0.9}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      for (const char* label : {"slow", "quick"}) {
        RunPoint point;
        char text[17];
        std::snprintf(text, sizeof text, "%016d", ++id);
        point.id = text;
        point.label = point.policy = label;
        point.load = load;
        point.seed = seed;
        point.topology = "two";
        point.workload = "w";
        const RunResult run = small_run((*label == 's' ? 100 : 40) + static_cast<double>(seed));
        REQUIRE(write_record(dir / "runs" / (point.id + ".json"), point, run,
                             run_curves(run, two_servers()))
                    .ok());
        manifest.runs.push_back(point);
      }
    }
  }
  REQUIRE(write_manifest(dir / "experiment.json", manifest).ok());
}

std::string chromium_dom(const std::filesystem::path& page) {
  const std::string command =
      "chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
      "--virtual-time-budget=20000 --window-size=1200,900 --dump-dom 'file://" +
      page.string() + "' 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string dom;
  char buffer[4096];
  for (std::size_t n = 0; pipe && (n = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
    dom.append(buffer, n);
  return dom;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace

TEST_CASE("summary.json has the figures of every run under the names of the experiment") {
  const TestFolder folder("results");
  write_folder(folder.path, "two by two");
  const Results results = read_results(folder.path).value();
  const auto summary = nlohmann::json::parse(summary_of(results));
  CHECK(summary.at("schema") == 1);
  REQUIRE(summary.at("runs").size() == 8);
  CHECK(summary.at("runs")[1].at("policy") == "quick");
  CHECK(summary.at("runs")[1].at("load") == 0.7);
  CHECK(summary.at("runs")[1].at("avg_jct_s") == doctest::Approx(541));
  CHECK(summary.at("runs")[0].size() == 33);
  const auto all = nlohmann::json::parse(results_json(results));
  CHECK(all.at("comparisons").size() == 2);
  CHECK(all.at("comparisons")[0].at("rows")[0].at("under_baseline_s").at("mean") ==
        doctest::Approx(60));
}

TEST_CASE("the page is whole, names no host, and no text can end its script") {
  const TestFolder folder("page");
  write_folder(folder.path, "a</script><b>c");
  const Results results = read_results(folder.path).value();
  const std::string page = experiment_page(results, "");
  CHECK(page.find("@@") == std::string::npos);
  CHECK(page.find("</script><b>") == std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("echarts.min.js") != std::string::npos);
  CHECK(count(page, "</script>") == 3);
  CHECK(count(experiment_page(results, "x='</script>'"), "</script>") == 3);
}

TEST_CASE("damaged folders are refused in words") {
  const TestFolder folder("damaged");
  CHECK(read_results(folder.path).error().message.find("experiment.json") != std::string::npos);
  write_folder(folder.path, "x");
  REQUIRE(write_text_file(folder.path / "runs" / "0000000000000003.json", "{\"schema\": 1").ok());
  CHECK(read_results(folder.path).error().message.find("--resume") != std::string::npos);
  REQUIRE(write_text_file(folder.path / "experiment.json", R"({"schema": 1, "runs": 7})").ok());
  CHECK_FALSE(read_results(folder.path).ok());
}

TEST_CASE("curves: the distribution ends at one, and heat counts GPUs by server") {
  const RunCurves curves = run_curves(small_run(0), two_servers());
  REQUIRE(curves.jct.size() == 20);
  CHECK(curves.jct.back().second == 1);
  CHECK(curves.jct.back().first == 500);
  RunResult two = small_run(0);
  two.jobs.resize(2);
  two.jobs[0].placement = "0-3";
  two.jobs[1].placement = "4,6";
  two.jobs[0].start_s = 0, two.jobs[0].finish_s = 600;
  two.jobs[1].start_s = 300, two.jobs[1].finish_s = 600;
  const RunCurves hot = run_curves(two, two_servers());
  REQUIRE(hot.heat.size() == 2);
  CHECK(hot.heat_bin_s == 10);
  CHECK(hot.heat[0] == std::vector<std::uint32_t>(60, 100));
  CHECK(hot.heat[1][29] == 0);
  CHECK(hot.heat[1][30] == 50);
  CHECK(curves.gantt.size() == 20);
  CHECK(curves.timeline.size() == 20);
  // Many servers share rows.
  CurveLimits narrow;
  narrow.heat_rows = 1;
  narrow.bars = 4;
  CHECK(run_curves(small_run(0), two_servers(), narrow).heat.size() == 1);
  CHECK(run_curves(small_run(0), two_servers(), narrow).gantt.front().job == "job8");
  CHECK(run_curves(RunResult{}, two_servers()).heat.empty());
}

TEST_CASE("a browser draws the page") {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) {
    MESSAGE("chromium is not installed: the page is not tested in a browser");
    return;
  }
  const TestFolder folder("browser");
  write_folder(folder.path, "drawn");
  const Results results = read_results(folder.path).value();
  const auto page = folder.path / "report.html";
  REQUIRE(write_text_file(page, experiment_page(results, "")).ok());
  std::string dom = chromium_dom(page);
  CHECK(dom.find("data-ready=\"yes\"") != std::string::npos);
  CHECK(dom.find("id=\"nocharts\" class=\"card\">") != std::string::npos);  // no longer hidden
  CHECK(count(dom, "<caption>") == 2);

  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  const auto library = find_echarts(self.parent_path());
  if (library.empty()) {
    MESSAGE("the chart library is not there (target charts makes it): charts are not tested");
    return;
  }
  REQUIRE(write_text_file(page, experiment_page(results, read_text_file(library).value())).ok());
  dom = chromium_dom(page);
  CHECK(dom.find("data-ready=\"yes\"") != std::string::npos);
  // Sweep, bars, distribution, GPUs, waiting, heat and Gantt.
  CHECK(count(dom, "data-zr-dom-id=\"zr_0.0\"") == 7);
}
