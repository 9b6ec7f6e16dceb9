// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/results.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/test_folder.h"
#include "launch/report/test_browser.h"
#include "topology/generate/generate.h"
#include "workload/text/text_file.h"

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

/// A folder with one table of two policies at two loads; `dropped`: rows of the trace.
void write_folder(const std::filesystem::path& dir, const std::string& name,
                  std::uint64_t dropped = 0) {
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
        RunResult run = small_run((*label == 's' ? 100 : 40) + static_cast<double>(seed));
        run.dropped = dropped;
        REQUIRE(write_record(dir / "runs" / (point.id + ".json"), point, "", run,
                             run_curves(run, two_servers()))
                    .ok());
        manifest.runs.push_back(point);
      }
    }
  }
  REQUIRE(write_manifest(dir / "experiment.json", manifest).ok());
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
  CHECK(summary.at("runs")[0].size() == 39);
  const auto all = nlohmann::json::parse(results_json(results));
  CHECK(all.at("comparisons").size() == 2);
  CHECK(all.at("comparisons")[0].at("rows")[0].at("under_baseline_s").at("mean") ==
        doctest::Approx(60));
}

namespace {

/// With one table over all families.
Results together_in(const std::filesystem::path& dir) {
  write_folder(dir, "x");
  Manifest manifest = read_manifest(dir / "experiment.json").value();
  CHECK_FALSE(manifest.together);
  manifest.together = true;
  for (RunPoint& point : manifest.runs) {
    point.may.add(Power::place);
    if (point.label == "slow") point.may.add(Power::order);
    point.knows = "estimates (σ 0.5)";
  }
  REQUIRE(write_manifest(dir / "experiment.json", manifest).ok());
  return read_results(dir).value();
}

}  // namespace

TEST_CASE("what rows may and know comes back from the folder, in JSON, CSV and on the page") {
  const TestFolder folder("together");
  const Results results = together_in(folder.path);
  const auto table = nlohmann::json::parse(results_json(results)).at("comparisons").at(0);
  CHECK(table.at("family").is_null());
  CHECK(table.at("rows")[1].at("may") == nlohmann::json::array({"place", "order"}));
  CHECK(table.at("rows")[1].at("knows") == "estimates (σ 0.5)");
  REQUIRE(write_results(folder.path, results).ok());
  const std::string csv = read_text_file(folder.path / "table.csv").value();
  CHECK(csv.find("slow,1,B,\"place, order\",estimates (σ 0.5),no,") != std::string::npos);
  const std::string page = experiment_page(results);
  CHECK(page.find("\"may\":[\"place\",\"order\"]") != std::string::npos);
  // What stands below the tables has one source.
  const std::vector<std::string> notes = table_notes(results.tables);
  REQUIRE(notes.size() == 1);
  const std::string markdown = read_text_file(folder.path / "table.md").value();
  CHECK(markdown.find("\n" + notes[0] + "\n") != std::string::npos);
  CHECK(page.find("\"table_notes\":[\"" + notes[0] + "\"]") != std::string::npos);
}

TEST_CASE("a browser shows what rows may and know" * needs_browser()) {
  const TestFolder folder("together-page");
  const TestBrowser browser("together");
  const std::string dom = browser.dom(experiment_page(together_in(folder.path)));
  CHECK(count_of(dom, ">Knows</th>") == 2);
  CHECK(count_of(dom, "place, order</td>") == 2);
  CHECK(count_of(dom, ">Rows that may do other things") == 1);
}

TEST_CASE("rows that are no jobs are told in table.md, table.csv, JSON and on the page") {
  const TestFolder folder("gaps");
  write_folder(folder.path, "x", 7);
  const Results results = read_results(folder.path).value();
  const std::string note = "w: 7 rows dropped (no GPU or 0 s).";
  CHECK(table_notes(results.tables) == std::vector<std::string>{note});
  REQUIRE(write_results(folder.path, results).ok());
  const std::string markdown = read_text_file(folder.path / "table.md").value();
  CHECK(count_of(markdown, "\n" + note + "\n") == 2);
  CHECK(count_of(read_text_file(folder.path / "table.csv").value(), ",7,0\n") == 4);
  CHECK(experiment_page(results).find("\"table_notes\":[\"" + note + "\"]") != std::string::npos);
  const auto table = nlohmann::json::parse(results_json(results)).at("comparisons").at(1);
  CHECK(table.at("gaps").at("w").at("rows_dropped") == 7);
}

TEST_CASE("the page is whole, names no host, and no text can end its script") {
  const TestFolder folder("page");
  write_folder(folder.path, "a</script><b>c");
  const Results results = read_results(folder.path).value();
  const std::string page = experiment_page(results);
  CHECK(page.find("@@") == std::string::npos);
  CHECK(page.find("</script><b>") == std::string::npos);
  CHECK_FALSE(names_a_host(page));
  CHECK(count_of(page, "</script>") == 2);
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

TEST_CASE("the jobs of all runs are one table that names their runs") {
  const TestFolder folder("jobs-table");
  write_folder(folder.path, "x");
  Results results = read_results(folder.path).value();
  REQUIRE(write_jobs_table(folder.path, results).ok());
  CHECK_FALSE(std::filesystem::exists(folder.path / "jobs.csv"));  // the runs kept no jobs
  std::filesystem::create_directories(folder.path / "jobs");
  const auto put = [&](std::size_t run, const char* rows) {
    const std::string file = results.records[run].fact.point.id + ".csv";
    REQUIRE(write_text_file(folder.path / "jobs" / file, rows).ok());
  };
  results.records[2].fact.point.label = "a \"b\", c";
  put(0, "job,submit_s\nj1,0\nj2,5\n");
  put(2, "job,submit_s\n\"two\nlines\",0\n");
  REQUIRE(write_jobs_table(folder.path, results).ok());
  CHECK(read_text_file(folder.path / "jobs.csv").value() ==
        "run,policy,agents,topology,workload,load,faults,seed,job,submit_s\n"
        "0000000000000001,slow,1,two,w,0.7,,1,j1,0\n"
        "0000000000000001,slow,1,two,w,0.7,,1,j2,5\n"
        "0000000000000003,\"a \"\"b\"\", c\",1,two,w,0.7,,2,\"two\nlines\",0\n");
}

TEST_CASE("only the runs that the page draws keep their curves") {
  const TestFolder folder("drawn");
  write_folder(folder.path, "x");
  const Results results = read_results(folder.path).value();
  std::size_t drawn = 0;
  for (const RunRecord& record : results.records) drawn += record.curves.empty() ? 0 : 1;
  CHECK(drawn == 4);  // two loads, two policies; not the second seeds
}

TEST_CASE("a browser draws the page" * needs_browser()) {
  const TestBrowser browser("browser");
  const TestFolder folder("drawn-page");
  write_folder(folder.path, "drawn");
  const Results results = read_results(folder.path).value();
  const std::string dom = browser.dom(experiment_page(results));
  CHECK(count_of(dom, "<caption>") == 2);
  // Sweep, means, differences, distribution, GPUs, waiting, heat and Gantt.
  CHECK(count_of(dom, "class=\"tools\"") == 8);
}
