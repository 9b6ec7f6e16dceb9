// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/results_folder.h"

#include <doctest/doctest.h>

#include "base/test_folder.h"
#include "launch/experiment/compare.h"
#include "launch/system/files.h"
#include "sim/summary.h"

using namespace starling;

TEST_CASE("results replace results, and no file of a user's") {
  const TestFolder folder("results");
  CHECK(can_take_results(folder.path / "new").ok());
  CHECK(can_take_results(folder.path).ok());

  const RunResult run;
  REQUIRE(write_text(folder.path / "summary.json", summary_json({&run, 1})).ok());
  REQUIRE(write_jobs_csv(folder.path / "jobs.csv", run).ok());
  REQUIRE(write_text(folder.path / "notes.txt", "mine").ok());
  CHECK(can_take_results(folder.path).ok());

  REQUIRE(write_text(folder.path / "jobs.csv", "name,salary\n").ok());
  CHECK(can_take_results(folder.path).error().message ==
        (folder.path / "jobs.csv").string() +
            " is not Starling's and would be replaced; give a new folder");
  CHECK_FALSE(can_take_results(folder.path / "jobs.csv").ok());

  REQUIRE(write_text(folder.path / "jobs.csv", "").ok());  // of runs that all failed
  CHECK(can_take_results(folder.path).ok());
  REQUIRE(write_jobs_csv(folder.path / "jobs.csv", run).ok());
  REQUIRE(write_text(folder.path / "table.md", tables_markdown("x", {})).ok());
  CHECK(can_take_results(folder.path).ok());
  REQUIRE(write_text(folder.path / "table.md", "precious notes\n").ok());
  CHECK_FALSE(can_take_results(folder.path).ok());

  std::filesystem::remove(folder.path / "table.md");
  REQUIRE(write_text(folder.path / "table.csv", tables_csv({})).ok());
  CHECK(can_take_results(folder.path).ok());
  REQUIRE(write_text(folder.path / "table.csv", "policy,premium\n").ok());
  CHECK_FALSE(can_take_results(folder.path).ok());
}
