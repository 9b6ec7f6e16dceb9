// SPDX-License-Identifier: Apache-2.0
#include "launch/leaderboard/leaderboard.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "base/test_folder.h"
#include "launch/leaderboard/board_runs.h"
#include "launch/system/files.h"

using namespace starling;

namespace {

const char* const kExperiment = R"(name: small
topologies: [{name: a, generate: flat, servers: 2, gpus_per_server: 4}]
workloads: [{name: w, generate: philly-like, jobs: 20, gang_max: 4}]
loads: [0.7, 0.9]
policies: [fifo, {policy: sjf, label: "shortest: first"}]
seeds: 2
jobs: no
)";

/// An experiment that has run, in a folder with a leaderboard beside it.
struct Ran {
  TestFolder folder{"leaderboard"};
  PolicyRegistry policies = make_policy_registry();
  std::filesystem::path file = folder.path / "e.yaml", board = folder.path / "board.yaml";

  Ran() { REQUIRE(write_text(file, kExperiment).ok()); }
  [[nodiscard]] BoardGrid grid() const { return open_grid(file, policies, {}, "").value(); }
  [[nodiscard]] std::vector<BoardEntry> entries(const std::string& label = "") const {
    const BoardGrid all = grid();
    GridOptions options;
    options.out = folder.path / "out";
    options.threads = 1;
    options.resume = true;
    REQUIRE(run_grid(all.experiment, all.inputs, all.points, policies, simulate, options).ok());
    auto found = entries_of(all, options.out, "e.yaml", label, "2026-11-27");
    REQUIRE(found.ok());
    return found.value();
  }
  [[nodiscard]] Result<BoardCheck> check(const Leaderboard& of,
                                         const std::vector<BoardPick>& picks) const {
    const TestFolder work("leaderboard-work");
    BoardCheckOptions options;
    options.folder = folder.path;
    options.work = work.path;
    options.threads = 1;
    return check_board(of, picks, policies, simulate, options);
  }
};

std::string wrong(const std::string& text) {
  const auto read = parse_leaderboard(text, "b.yaml");
  return read.ok() ? "(nothing is wrong)" : read.error().message;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("a leaderboard keeps what was run, and entries are added to it") {
  const Ran ran;
  const auto entries = ran.entries();
  REQUIRE(entries.size() == 2);
  CHECK(entries[1].label == "shortest: first");
  CHECK(entries[0].runs.size() == 4);
  CHECK(seeds_of(entries[0]) == std::vector<std::uint64_t>{1, 2});
  CHECK(same_runs(entries[0], entries[1]));
  CHECK(hash_of(entries[0]) != hash_of(entries[1]));

  const auto first = with_entries("", "b.yaml", {entries[0]});
  REQUIRE(first.ok());
  const auto both = with_entries(first.value() + "    # said by hand\n", "b.yaml", {entries[1]});
  REQUIRE(both.ok());
  CHECK(both.value().find("# said by hand") != std::string::npos);
  const auto read = parse_leaderboard(both.value(), "b.yaml");
  REQUIRE(read.ok());
  REQUIRE(read.value().entries.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(hash_of(read.value().entries[i]) == hash_of(entries[i]));
    CHECK(mean_jct_of(read.value().entries[i]) == mean_jct_of(entries[i]));
    CHECK(read.value().entries[i].label == entries[i].label);
    CHECK(read.value().entries[i].program == entries[i].program);
  }
  CHECK(ran.entries("fifo").size() == 1);
  const auto none = entries_of(ran.grid(), ran.folder.path / "out", "e.yaml", "lifo", "");
  CHECK(none.error().message ==
        "the experiment has no policy 'lifo'; it has, as its tables say: "
        "fifo, shortest: first");
  const auto absent = entries_of(ran.grid(), ran.folder.path / "nothing", "e.yaml", "", "");
  CHECK(absent.error().message.find("is not in") != std::string::npos);
}

TEST_CASE("entries run again: the same, another result, and runs that are no more") {
  const Ran ran;
  Leaderboard board{ran.entries()};
  const auto all = picks_of(board, nullptr);
  CHECK(all.size() == 8);
  const auto good = ran.check(board, all);
  REQUIRE(good.ok());
  CHECK(good.value().same == 8);
  CHECK(good.value().differing.empty());

  board.entries[1].runs[2].hash = "0123456789abcdef";
  board.entries[0].runs[1].avg_jct_s *= 1.001;
  board.entries[0].runs[3].unfinished = 2;
  const auto bad = ran.check(board, all);
  REQUIRE(bad.ok());
  REQUIRE(bad.value().differing.size() == 3);
  CHECK(bad.value().differing[0].pick.run == 1);
  CHECK(bad.value().differing[0].what.find("the hash is the same, but mean JCT is") == 0);
  CHECK(bad.value().differing[1].what.find("0 of 20 jobs did not finish instead of 2 of 20") !=
        std::string::npos);
  CHECK(bad.value().differing[2].pick.entry == 1);
  CHECK(bad.value().differing[2].what.find("instead of 0123456789abcdef") != std::string::npos);
  const std::size_t second = 1;
  CHECK(picks_of(board, &second).size() == 4);
  CHECK(ran.check(board, {{0, 0}}).value().differing.empty());

  REQUIRE(write_text(ran.file, replaced(kExperiment, "jobs: 20", "jobs: 21")).ok());
  const auto other = ran.check(board, {{0, 0}});
  REQUIRE(other.ok());
  REQUIRE(other.value().differing.size() == 1);
  CHECK(other.value().differing[0].what.find("the experiment has no run") == 0);
  REQUIRE(write_text(ran.file, "name: broken\n").ok());
  CHECK_FALSE(ran.check(board, {{0, 0}}).ok());
}

TEST_CASE("a sample is drawn by its seed, in the order of the entries") {
  std::vector<BoardPick> picks;
  for (std::size_t i = 0; i < 50; ++i) picks.push_back({i / 10, i % 10});
  const auto some = sample_of(picks, 7, 3), again = sample_of(picks, 7, 3),
             others = sample_of(picks, 7, 4);
  const auto number = [](const BoardPick& pick) { return 10 * pick.entry + pick.run; };
  bool differ = false;
  REQUIRE(some.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(number(some[i]) == number(again[i]));
    differ = differ || number(some[i]) != number(others[i]);
    if (i > 0) CHECK(number(some[i - 1]) < number(some[i]));
  }
  CHECK(differ);
  CHECK(sample_of(picks, 60, 1).size() == 50);
}

TEST_CASE("what is no leaderboard is told with its line") {
  const Ran ran;
  const std::string good = with_entries("", "b.yaml", {ran.entries()[0]}).value();
  CHECK(wrong(good) == "(nothing is wrong)");
  CHECK(wrong("") == "b.yaml: is no leaderboard; 'starling leaderboard add' makes one");
  CHECK(wrong("name: x\n").find("b.yaml:1:1: unknown key 'name'") == 0);
  CHECK(wrong("entries: []\n").find("write leaderboard: 1") != std::string::npos);
  CHECK(wrong("leaderboard: 2\nentries: []\n").find("b.yaml:1:14: leaderboard is") == 0);
  CHECK(wrong("leaderboard: 1\nentries: []\n").find("an empty list") != std::string::npos);
  CHECK(wrong("leaderboard: [\n").find("this is not YAML") != std::string::npos);
  CHECK(wrong(replaced(good, "seeds: [1, 2]", "seeds: [1, 3]")).find("seeds are not those") !=
        std::string::npos);
  CHECK(wrong(replaced(good, "\"fifo\"", "[]")).find("b.yaml:") == 0);
  const std::size_t at = good.find("avg_jct_s: ");
  CHECK(wrong(good.substr(0, at) + "avg_jct_s: 9" + good.substr(at + 11))
            .find("mean_jct_s is not the mean of the runs") != std::string::npos);
  const std::size_t hash = good.find(", hash: \"");
  CHECK(wrong(good.substr(0, hash + 9) + "ffff" + good.substr(hash + 13))
            .find("is not that of the runs") != std::string::npos);
  CHECK(wrong(good.substr(0, hash + 9) + "wxyz" + good.substr(hash + 13))
            .find("it is 16 hexadecimal digits") != std::string::npos);
  // Nothing is added to what cannot take it.
  const auto entry = ran.entries()[0];
  CHECK_FALSE(with_entries("name: x\n", "b.yaml", {entry}).ok());
  const std::string wide = replaced(good, "  - experiment", "    - experiment");
  CHECK_FALSE(with_entries(wide, "b.yaml", {entry}).ok());
}
