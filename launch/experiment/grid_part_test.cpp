// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/grid_part.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "base/test_folder.h"
#include "launch/experiment/merge_parts.h"
#include "launch/experiment/results.h"
#include "launch/experiment/run_record.h"
#include "launch/experiment/test_grid.h"

using namespace starling;

namespace {

namespace fs = std::filesystem;

GridOptions part(std::uint32_t number, std::uint32_t of) {
  GridOptions options;
  options.part = {number, of};
  return options;
}

/// Every file below, by name.
std::map<std::string, std::string> files_of(const fs::path& dir) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[fs::relative(entry.path(), dir).string()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

/// The folders of three parts that have been run to their end.
std::vector<fs::path> three_parts(const fs::path& dir) {
  std::vector<fs::path> folders;
  for (std::uint32_t k = 1; k <= 3; ++k) {
    TestGrid grid;
    folders.push_back(dir / ("part-" + std::to_string(k)));
    const auto outcome = grid.run(folders.back(), part(k, 3));
    REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
    CHECK(grid.calls == 4);
  }
  return folders;
}

std::string refusal(const std::vector<fs::path>& parts, const fs::path& out) {
  const auto merged = merge_parts(parts, {out, false});
  REQUIRE_FALSE(merged.ok());
  CHECK_FALSE(fs::exists(out / "experiment.json"));
  CHECK_FALSE(fs::exists(out / "runs"));
  return merged.error().message;
}

}  // namespace

TEST_CASE("each run is in exactly one part, whatever their number") {
  const TestGrid grid;
  for (const std::uint32_t of : {1U, 2U, 3U, 5U, 12U, 20U}) {
    std::multiset<std::size_t> seen;
    for (std::uint32_t k = 1; k <= of; ++k) {
      const auto mine = runs_of(grid.points, {k, of});
      CHECK(mine.size() <= (grid.points.size() + of - 1) / of);
      CHECK(std::is_sorted(mine.begin(), mine.end()));
      seen.insert(mine.begin(), mine.end());
    }
    CHECK(seen.size() == grid.points.size());
    CHECK(std::set<std::size_t>(seen.begin(), seen.end()).size() == grid.points.size());
  }
}

TEST_CASE("a part is K/N, and what is none is told what would be one") {
  CHECK(read_part("2/4").value().number == 2);
  CHECK(text_of(read_part("2/4").value()) == "2/4");
  for (const char* wrong :
       {"", "2", "0/4", "5/4", "a/4", "2/", "/4", "2/4/8", "-1/4", "1/0", "2 /4"}) {
    CAPTURE(wrong);
    REQUIRE_FALSE(read_part(wrong).ok());
    CHECK(read_part(wrong).error().message.find("1/4") != std::string::npos);
  }
}

TEST_CASE("merged parts are the undivided run, byte for byte") {
  const TestFolder folder("merge");
  TestGrid grid;
  REQUIRE(grid.run(folder.path / "whole").ok());
  REQUIRE(write_results(folder.path / "whole", read_results(folder.path / "whole").value()).ok());
  auto parts = three_parts(folder.path);
  std::swap(parts[0], parts[2]);  // in any order
  const fs::path out = folder.path / "merged";
  const auto merged = merge_parts(parts, {out, false});
  REQUIRE_MESSAGE(merged.ok(), merged.error().message);
  CHECK(merged.value().runs == 12);
  REQUIRE(write_results(out, read_results(out).value()).ok());
  const auto whole = files_of(folder.path / "whole"), ours = files_of(out);
  CHECK(whole.size() == 30);  // 12 runs, their jobs, six results
  CHECK(ours.size() == whole.size());
  for (const auto& [name, text] : whole) {
    CAPTURE(name);
    REQUIRE(ours.contains(name));
    CHECK((ours.at(name) == text));
  }
}

TEST_CASE("a part goes on where it ended, and parts of one folder leave each other's runs alone") {
  const TestFolder folder("parts");
  TestGrid grid;
  REQUIRE(grid.run(folder.path, part(1, 2)).value().ran == 6);
  fs::remove(folder.path / "runs" / (grid.points[runs_of(grid.points, {1, 2})[3]].id + ".json"));
  CHECK(grid.run(folder.path, part(1, 2)).value().skipped == 5);
  CHECK(grid.calls == 1);
  CHECK(grid.run(folder.path, part(2, 2)).value().ran == 6);
  CHECK(read_results(folder.path).value().missing == 0);
  GridOptions anew = part(2, 2);
  anew.force = true;
  CHECK(grid.run(folder.path, anew).value().ran == 6);
  CHECK(grid.run(folder.path, part(1, 2)).value().skipped == 6);
  GridOptions none = part(20, 20);  // of 12 runs
  none.force = true;
  CHECK(grid.run(folder.path, none).value().ran == 0);
  CHECK(read_results(folder.path).value().missing == 0);
}

TEST_CASE("rows of jobs take the place of earlier ones as a whole") {
  const TestFolder folder("rows");
  TestGrid grid;
  REQUIRE(grid.run(folder.path, part(1, 2)).ok());
  const std::string id = grid.points[runs_of(grid.points, {1, 2})[0]].id;
  const fs::path rows = folder.path / "jobs" / (id + ".csv"), open = folder.path / "open.csv";
  fs::create_hard_link(rows, open);  // as a process that reads them has them
  fs::resize_file(open, 10);
  fs::remove(folder.path / "runs" / (id + ".json"));
  REQUIRE(grid.run(folder.path, part(1, 2)).value().ran == 1);
  CHECK(fs::file_size(open) == 10);
  CHECK(fs::file_size(rows) > 10);
}

TEST_CASE("a folder of another program or another experiment is no place to go on") {
  const TestFolder folder("others");
  TestGrid grid;
  GridOptions old = part(1, 2);
  old.program = "0.1.0";
  REQUIRE(grid.run(folder.path, old).ok());
  const auto newer = grid.run(folder.path, part(1, 2));
  REQUIRE_FALSE(newer.ok());
  CHECK(newer.error().code == Errc::conflict);
  CHECK(newer.error().message.find("has runs of program 0.1.0, and this is ") != std::string::npos);

  TestGrid other;
  other.points.pop_back();
  other.experiment.name = "smaller";
  const auto refused = other.run(folder.path, old);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("another experiment, 'grid' with 12 runs") !=
        std::string::npos);
}

TEST_CASE("in a part's folder a record of another program is run again") {
  const TestFolder folder("mixed");
  TestGrid grid;
  REQUIRE(grid.run(folder.path, part(1, 2)).ok());
  GridOptions old;
  old.program = "0.1.0";
  REQUIRE(grid.run(folder.path / "old", old).ok());
  const std::string name = grid.points[runs_of(grid.points, {1, 2})[0]].id + ".json";
  fs::copy_file(folder.path / "old" / "runs" / name, folder.path / "runs" / name,
                fs::copy_options::overwrite_existing);
  CHECK(grid.run(folder.path, part(1, 2)).value().ran == 1);
}

TEST_CASE("what is no whole of parts is refused, says why, and leaves nothing") {
  const TestFolder folder("refused");
  const auto parts = three_parts(folder.path);
  const fs::path out = folder.path / "out";
  CHECK(refusal({parts[0], parts[1]}, out).find("4 of 12 runs are in none of the folders: ") == 0);
  CHECK(refusal({parts[0], parts[1], parts[1], parts[2]}, out).find("; give each part once") !=
        std::string::npos);
  CHECK(refusal({parts[0], folder.path}, out).find("'starling experiment --part' wrote") !=
        std::string::npos);

  TestGrid grid;
  GridOptions old = part(3, 3);
  old.program = "0.1.0";
  const fs::path of_old = folder.path / "old";
  REQUIRE(grid.run(of_old, old).ok());
  CHECK(refusal({parts[0], parts[1], of_old}, out).find("was run by program 0.1.0, and ") !=
        std::string::npos);

  TestGrid other;
  other.experiment.name = "other";
  REQUIRE(other.run(folder.path / "other", part(3, 3)).ok());
  CHECK(refusal({parts[0], parts[1], folder.path / "other"}, out).find("of another experiment") !=
        std::string::npos);

  const fs::path torn =
      parts[0] / "runs" / (grid.points[runs_of(grid.points, {1, 3})[0]].id + ".json");
  fs::resize_file(torn, 40);
  CHECK(refusal(parts, out).find(torn.string()) != std::string::npos);
}

TEST_CASE("an incomplete merge has what there is, and no merge goes over another") {
  const TestFolder folder("incomplete");
  const auto parts = three_parts(folder.path);
  const fs::path out = folder.path / "out";
  const auto merged = merge_parts({parts[0], parts[1]}, {out, true});
  REQUIRE(merged.ok());
  CHECK(merged.value().missing == 4);
  CHECK(read_results(out).value().missing == 4);
  const auto again = merge_parts(parts, {out, false});
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().code == Errc::conflict);
}

TEST_CASE("a merge that cannot copy all leaves nothing") {
  const TestFolder folder("half");
  const auto parts = three_parts(folder.path);
  TestGrid grid;
  const fs::path rows =
      parts[0] / "jobs" / (grid.points[runs_of(grid.points, {1, 3})[0]].id + ".csv");
  fs::remove(rows);
  fs::create_directory(rows);
  const auto merged = merge_parts(parts, {folder.path / "out", false});
  REQUIRE_FALSE(merged.ok());
  CHECK(merged.error().code == Errc::io);
  CHECK_FALSE(fs::exists(folder.path / "out" / "runs"));
  CHECK_FALSE(fs::exists(folder.path / "out" / "jobs"));
}
