// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/compare.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace starling;

namespace {

RunFact fact(const std::string& label, std::uint64_t seed, double jct_s,
             Family family = Family::placement) {
  RunFact run;
  run.point.label = label;
  run.point.seed = seed;
  run.point.topology = "t";
  run.point.workload = "w";
  run.point.load = 0.9;
  run.point.family = family;
  run.submitted = run.finished = 10;
  run.avg_jct_s = jct_s;
  run.floor_jct_s = 100;
  return run;
}

const ComparisonRow& row_of(const ComparisonTable& table, const std::string& label) {
  for (const ComparisonRow& row : table.rows) {
    if (row.label == label) return row;
  }
  FAIL("no row " << label);
  return table.rows.front();
}

}  // namespace

TEST_CASE("pairing tells a small gain from weeks that differ much") {
  // Weeks differ by factors, the gain is 20 s in each: unpaired intervals overlap, the paired does
  // not touch zero.
  std::vector<RunFact> runs;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const double week = 200.0 * static_cast<double>(seed);
    runs.push_back(fact("base", seed, week));
    runs.push_back(fact("ours", seed, week - 20 - 0.1 * static_cast<double>(seed % 2)));
  }
  const auto tables = compare(runs, "base");
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].pairs == 4);
  const ComparisonRow& ours = row_of(tables[0], "ours");
  CHECK(ours.less_s.mean == doctest::Approx(20.05));
  CHECK(ours.less_s.half < 1);
  CHECK(ours.jct_s.half > 100);
  CHECK(tables[0].rows.front().label == "ours");
  CHECK(row_of(tables[0], "base").baseline);
}

TEST_CASE("the excess removed is relative to what could be removed") {
  const std::vector<RunFact> runs{fact("base", 1, 200), fact("ours", 1, 125)};
  const auto tables = compare(runs, "base");
  CHECK(row_of(tables[0], "ours").excess_removed == doctest::Approx(0.75));
  CHECK(row_of(tables[0], "ours").less_share.mean == doctest::Approx(0.375));
  // A baseline at the floor has nothing to remove.
  const std::vector<RunFact> none{fact("base", 1, 100), fact("ours", 1, 90)};
  CHECK_FALSE(row_of(compare(none, "base")[0], "ours").excess_removed.has_value());
}

TEST_CASE("an order that each of several agents keeps for itself is marked and noted") {
  std::vector<RunFact> runs{fact("fifo", 1, 200, Family::order), fact("fifo", 1, 90, Family::order),
                            fact("best", 1, 90)};
  runs[1].point.agents = runs[2].point.agents = 4;
  const auto tables = compare(runs, "fifo");
  REQUIRE(tables.size() == 2);
  CHECK_FALSE(tables[0].rows[0].by_partition);
  CHECK(tables[1].rows[0].by_partition);
  CHECK_FALSE(tables[1].rows[1].by_partition);
  const std::string text = tables_markdown("x", tables);
  CHECK(text.find("| fifo, 4 agents † |") != std::string::npos);
  CHECK(text.find("† orders the jobs of each partition by themselves") != std::string::npos);
}

TEST_CASE("what a workload's source lacks is told once for each workload, and is in every row") {
  std::vector<RunFact> runs{fact("base", 1, 20), fact("ours", 1, 10), fact("base", 2, 20),
                            fact("ours", 2, 10), fact("base", 1, 20), fact("ours", 1, 10)};
  for (RunFact& run : runs) run.dropped = 3, run.duplicates = 1;
  for (std::size_t i = 4; i < 6; ++i) {
    runs[i].point.workload = "other";
    runs[i].dropped = 0, runs[i].duplicates = 2;
  }
  const auto tables = compare(runs, "base");
  REQUIRE(tables.size() == 1);
  const std::string text = tables_markdown("x", tables);
  CHECK(text.find("\nw: 3 rows dropped (no GPU or 0 s), 1 job of a name used before.\n") !=
        std::string::npos);
  CHECK(text.find("\nother: 2 jobs of a name used before.\n") != std::string::npos);
  const std::string csv = tables_csv(tables);
  CHECK(csv.find(",rows_dropped,duplicate_names\n") != std::string::npos);
  CHECK(csv.find(",3,3\n") != csv.rfind(",3,3\n"));
  CHECK(tables_markdown("x", compare(std::vector{fact("base", 1, 20)}, "base")).find("dropped") ==
        std::string::npos);
}

TEST_CASE("families, topologies and loads have tables of their own") {
  std::vector<RunFact> runs{fact("a", 1, 10), fact("b", 1, 20, Family::order),
                            fact("c", 1, 30, Family::order), fact("a", 1, 10)};
  runs[3].point.load = 0.7;
  const auto tables = compare(runs, "a");
  REQUIRE(tables.size() == 3);
  CHECK(tables[0].family == Family::placement);
  CHECK(tables[2].family == Family::order);
  CHECK(tables[2].rows.size() == 2);
  CHECK(row_of(tables[2], "b").baseline);  // no 'a' there: the first one
}

namespace {

/// Families A and B in the same pairs: who knows nothing, and who knows all.
std::vector<RunFact> mixed() {
  std::vector<RunFact> runs;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto week = static_cast<double>(100 * seed);
    const auto add = [&](const char* label, double jct_s, bool orders, const char* knows) {
      runs.push_back(fact(label, seed, jct_s, orders ? Family::order : Family::placement));
      runs.back().point.may.add(Power::place);
      if (orders) runs.back().point.may.add(Power::order);
      runs.back().point.knows = knows;
    };
    add("base", week + 90, false, "nothing");
    add("close", week + 89 + static_cast<double>(seed % 2) * 2.5, false, "nothing");
    add("tight", week + 100, false, "nothing");
    add("fifo", week + 200, true, "nothing");
    add("srtf", week, true, "exact");
    add("sjf", week + 10, true, "exact");
  }
  return runs;
}

}  // namespace

TEST_CASE("together, one table has all families, and what each row may and knows") {
  const auto tables = compare(mixed(), "base", true);
  REQUIRE(tables.size() == 1);
  CHECK_FALSE(tables[0].family);
  REQUIRE(tables[0].rows.size() == 6);
  CHECK(tables[0].rows.front().label == "srtf");
  CHECK(row_of(tables[0], "srtf").less_s.mean == doctest::Approx(90));
  CHECK(row_of(tables[0], "srtf").family == Family::order);
  const std::string text = tables_markdown("x", tables);
  CHECK(text.find("## all families, t, load 0.9") != std::string::npos);
  CHECK(text.find("| policy | may | knows | mean JCT") != std::string::npos);
  CHECK(text.find("| srtf ‡ | place, order | exact |") != std::string::npos);
  CHECK(text.find("| tight | place | nothing |") != std::string::npos);
  CHECK(text.find("are not like for like") != std::string::npos);
  CHECK(text.find("not ranked against one another") == std::string::npos);
  CHECK(compare(mixed(), "base").size() == 2);
}

TEST_CASE("the best is marked among those that may and know the same") {
  const auto tables = compare(mixed(), "base", true);
  CHECK(row_of(tables[0], "srtf").best);
  CHECK_FALSE(row_of(tables[0], "sjf").best);   // 10 s behind in every pair
  CHECK_FALSE(row_of(tables[0], "fifo").best);  // alone
  CHECK(row_of(tables[0], "base").best);
  CHECK(row_of(tables[0], "close").best);  // ahead in two pairs, behind in two
  CHECK_FALSE(row_of(tables[0], "tight").best);

  std::vector<RunFact> runs = mixed();
  for (RunFact& run : runs) run.finished -= run.point.label == "srtf" ? 1 : 0;
  const auto without = compare(runs, "base", true);
  CHECK_FALSE(row_of(without[0], "srtf").best);
  CHECK_FALSE(row_of(without[0], "sjf").best);  // none is left to be held against
}

TEST_CASE("none is best of runs that do not say what they may, or of a single pair") {
  std::vector<RunFact> runs = mixed();
  for (RunFact& run : runs) run.point.may = {};
  for (const ComparisonRow& row : compare(runs, "base", true)[0].rows) CHECK_FALSE(row.best);
  runs = mixed();
  runs.resize(6);
  for (const ComparisonRow& row : compare(runs, "base", true)[0].rows) CHECK_FALSE(row.best);
}

TEST_CASE("rows that may and know the same have no note that they differ") {
  std::vector<RunFact> runs{fact("a", 1, 10), fact("b", 1, 20), fact("a", 2, 10), fact("b", 2, 20)};
  for (RunFact& run : runs) {
    run.point.knows = "nothing";
    run.point.may.add(Power::place);
  }
  const std::string text = tables_markdown("x", compare(runs, "a", true));
  CHECK(text.find("not like for like") == std::string::npos);
  CHECK(text.find("| a ‡ |") != std::string::npos);
}

TEST_CASE("the tables as CSV have every row and its interval, and nothing where there is none") {
  const std::string text = tables_csv(compare(mixed(), "base", true));
  CHECK(std::ranges::count(text, '\n') == 7);
  CHECK(text.find("\nt,0.9,,srtf,1,B,\"place, order\",exact,yes,no,no,4,100,250,") !=
        std::string::npos);
  const std::string one = tables_csv(compare(std::vector{fact("a", 1, 10)}, "a"));
  CHECK(one.find("t,0.9,,a,1,A,") != std::string::npos);
  CHECK(one.find(",10,,0,,0,0,,0,,,0,,0,0\n") != std::string::npos);
}

TEST_CASE("runs without a partner are left out and counted") {
  const std::vector<RunFact> runs{fact("a", 1, 100), fact("b", 1, 90), fact("a", 2, 900)};
  const auto tables = compare(runs, "a");
  CHECK(tables[0].pairs == 1);
  CHECK(tables[0].left_out == 1);
  CHECK(row_of(tables[0], "a").jct_s.mean == 100);
}

TEST_CASE("a partitioned policy is held against the central baseline") {
  std::vector<RunFact> runs{fact("a", 1, 120), fact("a", 1, 100)};
  runs[0].point.agents = 4;
  const auto tables = compare(runs, "a");
  REQUIRE(tables[0].rows.size() == 2);
  CHECK(tables[0].rows[0].baseline);
  CHECK(tables[0].rows[0].agents == 1);
  CHECK(tables[0].rows[1].less_s.mean == -20);
}

TEST_CASE("the Markdown says what is compared with what") {
  std::vector<RunFact> runs{fact("base", 1, 7200), fact("ours", 1, 3600), fact("base", 2, 7300),
                            fact("ours", 2, 3600)};
  for (RunFact& run : runs) run.floor_jct_s = 1800;
  runs[1].finished = 9;
  const std::string text = tables_markdown("suite", compare(runs, "base"));
  CHECK(text.find("## placement (A), t, load 0.9") != std::string::npos);
  CHECK(text.find("2 paired runs; floor 0.50 ± 0.00 h; baseline base.") != std::string::npos);
  CHECK(text.find("| ours * | 1.00 ± 0.00 |") != std::string::npos);
  CHECK(text.find("1 job of these policies did not finish") != std::string::npos);
  CHECK(text.find("bound") == std::string::npos);
  for (RunFact& run : runs) run.point.bound_jct_s = run.point.seed == 1 ? 1800 : 5400;
  const std::string bounded = tables_markdown("suite", compare(runs, "base"));
  CHECK(bounded.find("; bound 1.00 ± ") != std::string::npos);
  CHECK(bounded.find("has a lower mean JCT") != std::string::npos);
}
