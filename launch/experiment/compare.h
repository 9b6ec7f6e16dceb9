// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/experiment/grid.h"
#include "launch/experiment/statistics.h"

namespace starling {

/// A finished run as the comparison needs it.
struct RunFact {
  RunPoint point;
  std::uint64_t submitted = 0, finished = 0;
  std::uint64_t dropped = 0, duplicates = 0;  ///< RunResult::dropped, RunFigures::duplicates
  double avg_jct_s = 0, p99_jct_s = 0, floor_jct_s = 0, utilization = 0;
};

/// One policy (with so many agents) of a table.
struct ComparisonRow {
  std::string label;
  std::uint32_t agents = 1;
  Family family = Family::order;
  Powers may;
  std::string knows;
  bool baseline = false;
  /// Of the rows with the same `may` and `knows`, two at least, it has the lowest mean JCT, or the
  /// 95 % interval of its paired differences from that one has 0 in it. Rows that are by_partition
  /// or have unfinished jobs are out of this.
  bool best = false;
  bool by_partition = false;  ///< orders each partition's jobs by themselves, not all of them
  Interval jct_s, p99_jct_s, utilization;
  Interval less_s;      ///< paired: baseline's mean JCT minus this one's, above 0 is better
  Interval less_share;  ///< the same, relative to the baseline's of each pair
  /// Median over the pairs of (baseline - this) / (baseline - floor); nothing where the baseline
  /// is at the floor.
  std::optional<double> excess_removed;
  std::uint64_t unfinished = 0;  ///< jobs that did not finish, over all pairs
};

/// What of a workload's source is no job, or has the name of another.
struct SourceGaps {
  std::uint64_t dropped = 0, duplicates = 0;
};

/// Policies on one topology at one load under the same faults, by mean JCT. All figures are of the
/// pairs that every row has run; other runs are only counted.
struct ComparisonTable {
  std::optional<Family> family;  ///< of all rows; none: they are of any
  std::string topology;
  double load = 0;
  std::string faults;  ///< empty: none
  std::size_t pairs = 0;
  std::size_t left_out = 0;  ///< runs of pairs that are not whole
  Interval floor_s;
  Interval bound_s;                        ///< RunPoint::bound_jct_s; n 0: not asked
  std::map<std::string, SourceGaps> gaps;  ///< of workloads that have some
  std::vector<ComparisonRow> rows;
};

/// One table per topology, load, faults and, unless `together`, family, in the order of the runs.
/// The baseline is the row of that label with the fewest agents; families without it take their
/// first row.
[[nodiscard]] std::vector<ComparisonTable> compare(std::span<const RunFact> runs,
                                                   const std::string& baseline,
                                                   bool together = false);

/// "placement (A)" and so on; "all families".
[[nodiscard]] std::string family_text(std::optional<Family> family);
/// What readers of these tables are told below them, in Markdown (`*may*`), a paragraph each: what
/// their marks mean, which rows are not like for like, and what of each workload's source is
/// missing. table.md and the page have the same.
[[nodiscard]] std::vector<std::string> table_notes(std::span<const ComparisonTable> tables);
/// The tables as Markdown, with a line on how to read them, and the notes below it.
[[nodiscard]] std::string tables_markdown(const std::string& name,
                                          std::span<const ComparisonTable> tables,
                                          std::span<const std::string> notes = {});
/// The rows of all tables as CSV, a header line first; figures are in seconds and shares.
[[nodiscard]] std::string tables_csv(std::span<const ComparisonTable> tables);

}  // namespace starling
