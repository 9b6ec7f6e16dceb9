// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/run_grid.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <thread>
#include <tuple>

#include "base/test_folder.h"
#include "launch/experiment/load_experiment.h"
#include "launch/experiment/results.h"
#include "launch/experiment/test_grid.h"

using namespace starling;

TEST_CASE("every run leaves its record, and the results compare them") {
  const TestFolder folder("grid");
  TestGrid world;
  const auto outcome = world.run(folder.path);
  REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
  CHECK(outcome.value().ran == 12);
  CHECK(world.last_done == 12);
  CHECK(world.last_total == 12);
  CHECK(std::filesystem::exists(folder.path / "jobs" / (world.points[0].id + ".csv")));
  const auto results = read_results(folder.path);
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  CHECK(results.value().missing == 0);
  REQUIRE(results.value().tables.size() == 2);
  const ComparisonRow& best = results.value().tables[0].rows.front();
  CHECK(best.label == "sjf");
  CHECK(best.less_s.mean == doctest::Approx(30));
  CHECK(best.less_s.half == doctest::Approx(0));
  CHECK(best.excess_removed == doctest::Approx(0.5));
}

TEST_CASE("the same jobs go to every policy of a pair") {
  const TestFolder folder("pairs");
  TestGrid world;
  REQUIRE(world.run(folder.path).ok());
  std::map<std::tuple<double, std::uint64_t>, std::string> csv;
  for (const RunPoint& point : world.points) {
    std::ifstream in(folder.path / "jobs" / (point.id + ".csv"));
    std::string line, submits;
    while (std::getline(in, line)) submits += line.substr(0, line.find(',', line.find(',') + 1));
    const auto [known, fresh] = csv.emplace(std::tuple(point.load, point.seed), submits);
    if (!fresh) CHECK(known->second == submits);
  }
  CHECK(csv.size() == 6);
}

TEST_CASE("a run that fails costs nothing but itself, and --resume runs it again") {
  const TestFolder folder("failing");
  TestGrid world;
  const auto outcome = world.run(folder.path, false, "sjf");
  CHECK(outcome.value().failed == 4);
  CHECK(outcome.value().ran == 8);
  REQUIRE(world.complaints.size() == 4);
  CHECK(world.complaints[0].find("sjf: ") == 0);
  CHECK(read_results(folder.path).value().missing == 4);
  CHECK(read_results(folder.path).value().tables[0].pairs == 1);

  const auto again = world.run(folder.path, true);
  CHECK(again.value().skipped == 8);
  CHECK(again.value().ran == 4);
  CHECK(world.calls == 4);
  CHECK(world.run(folder.path, true).value().skipped == 12);
  CHECK(world.calls == 0);
}

TEST_CASE("kill -9 costs the runs under way and no other") {
  const TestFolder folder("killed");
  TestGrid world;
  const auto records = [&] {
    std::size_t n = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path / "runs", ignored))
      n += entry.path().extension() == ".json" ? 1 : 0;
    return n;
  };
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    world.pause = std::chrono::milliseconds(100);
    static_cast<void>(world.run(folder.path));
    _exit(0);
  }
  for (int i = 0; i < 1000 && records() < 4; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  const std::size_t kept = records();
  REQUIRE(kept >= 4);
  REQUIRE(kept < 12);
  const auto again = world.run(folder.path, true);
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  CHECK(again.value().skipped == kept);  // every record that was there is whole
  CHECK(again.value().ran == 12 - kept);
  CHECK(read_results(folder.path).value().missing == 0);
}

TEST_CASE("finished runs are not overwritten unasked, and a torn record is run again") {
  const TestFolder folder("resume");
  TestGrid world;
  REQUIRE(world.run(folder.path).ok());
  const auto refused = world.run(folder.path);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::conflict);
  CHECK(refused.error().message.find("--resume") != std::string::npos);
  const auto torn = folder.path / "runs" / (world.points[3].id + ".json");
  std::filesystem::resize_file(torn, 40);
  CHECK(world.run(folder.path, true).value().ran == 1);
}

TEST_CASE("--force runs all anew, and removes nothing but what runs have left") {
  const TestFolder folder("force");
  TestGrid world;
  REQUIRE(world.run(folder.path).ok());
  const auto theirs = folder.path / "runs" / "notes.json";
  const auto old = folder.path / "runs" / "0123456789abcdef.json";
  for (const auto& file : {theirs, old}) std::ofstream(file) << "{}";
  REQUIRE(world.run(folder.path, false, {}, true).ok());
  CHECK(world.calls == 12);
  CHECK_FALSE(std::filesystem::exists(old));
  CHECK(std::filesystem::exists(theirs));
}

TEST_CASE("a file's jobs are the same with each seed, and the tables say so beside their ±") {
  const TestFolder folder("notes");
  const auto trace = folder.path / "jobs.csv";
  std::ofstream(trace) << "job_id,submit_s,gpus,duration_s\na,0,1,60\nb,10,2,60\n";
  const std::string text =
      "name: notes\ntopologies: [{name: a, generate: flat, servers: 2}]\n"
      "workloads:\n  - {name: week, file: " +
      trace.string() +
      "}\n"
      "  - {name: drawn, generate: philly-like, jobs: 20}\n"
      "policies: [fifo]\nseeds: ";
  const auto notes = [&](const std::string& seeds, const char* out) {
    TestGrid world;
    world.experiment = parse_experiment(text + seeds + "\n", "x.yaml", world.policies).value();
    world.inputs = open_inputs(world.experiment).value();
    world.points = expand(world.experiment, world.inputs).value();
    REQUIRE(world.run(folder.path / out).ok());
    return read_results(folder.path / out).value().manifest.notes;
  };
  CHECK(notes("1", "one").empty());
  const auto several = notes("3", "several");
  REQUIRE(several.size() == 1);
  CHECK(several[0].find("The seeds of week share its jobs") == 0);
  CHECK(tables_markdown("notes", {}, several).find(several[0]) != std::string::npos);
}
