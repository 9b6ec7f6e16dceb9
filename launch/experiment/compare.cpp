// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/compare.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace starling {
namespace {

using Pair = std::pair<std::string, std::uint64_t>;    // workload, seed
using RowKey = std::pair<std::string, std::uint32_t>;  // label, agents
// Family or all, topology, load, faults.
using TableKey = std::tuple<std::optional<Family>, std::string, double, std::string>;
using RowRuns = std::map<Pair, const RunFact*>;

struct Group {
  std::vector<RowKey> order;  // of first appearance
  std::map<RowKey, RowRuns> rows;
};

/// The pairs that every row has.
std::vector<Pair> whole_pairs(const Group& group) {
  std::vector<Pair> out;
  for (const auto& [pair, ignored] : group.rows.begin()->second) {
    const bool everywhere =
        std::all_of(group.rows.begin(), group.rows.end(),
                    [&pair = pair](const auto& row) { return row.second.contains(pair); });
    if (everywhere) out.push_back(pair);
  }
  return out;
}

RowKey baseline_of(const Group& group, const std::string& label) {
  const RowKey* found = nullptr;
  for (const RowKey& key : group.order) {
    if (key.first == label && (found == nullptr || key.second < found->second)) found = &key;
  }
  return found == nullptr ? group.order.front() : *found;
}

template <class Get>
Interval over(const RowRuns& runs, const std::vector<Pair>& pairs, const Get& get) {
  std::vector<double> sample;
  sample.reserve(pairs.size());
  for (const Pair& pair : pairs) sample.push_back(get(*runs.at(pair)));
  return interval95(sample);
}

void set_differences(ComparisonRow& row, const RowRuns& runs, const RowRuns& base,
                     const std::vector<Pair>& pairs) {
  std::vector<double> less, share, excess;
  for (const Pair& pair : pairs) {
    const RunFact &ours = *runs.at(pair), &theirs = *base.at(pair);
    const double gain = theirs.avg_jct_s - ours.avg_jct_s;
    less.push_back(gain);
    if (theirs.avg_jct_s > 0) share.push_back(gain / theirs.avg_jct_s);
    // Below a thousandth of the floor an excess is rounding.
    const double room = theirs.avg_jct_s - theirs.floor_jct_s;
    if (room > theirs.floor_jct_s * 1e-3) excess.push_back(gain / room);
  }
  row.less_s = interval95(less);
  row.less_share = interval95(share);
  if (!excess.empty()) row.excess_removed = median(std::move(excess));
}

/// Sets `best` of the rows, which are by mean JCT.
void mark_best(std::vector<ComparisonRow>& rows, const Group& group,
               const std::vector<Pair>& pairs) {
  const auto ranked = [&pairs](const ComparisonRow& row) {
    // Runs of earlier versions do not say what their policies may do.
    return pairs.size() > 1 && row.may.bits != 0 && !row.by_partition && row.unfinished == 0;
  };
  std::map<std::pair<Powers, std::string>, std::vector<ComparisonRow*>> alike;
  for (ComparisonRow& row : rows) {
    if (ranked(row)) alike[{row.may, row.knows}].push_back(&row);
  }
  const auto runs_of = [&group](const ComparisonRow& row) -> const RowRuns& {
    return group.rows.at({row.label, row.agents});
  };
  for (const auto& [ignored, equals] : alike) {
    if (equals.size() < 2) continue;
    const RowRuns& first = runs_of(*equals.front());
    for (ComparisonRow* row : equals) {
      std::vector<double> behind;
      behind.reserve(pairs.size());
      for (const Pair& pair : pairs)
        behind.push_back(runs_of(*row).at(pair)->avg_jct_s - first.at(pair)->avg_jct_s);
      const Interval all = interval95(behind);
      row->best = all.mean - all.half <= 0;
    }
  }
}

ComparisonTable table_of(const TableKey& key, const Group& group, const std::string& baseline) {
  ComparisonTable table;
  std::tie(table.family, table.topology, table.load, table.faults) = key;
  const std::vector<Pair> pairs = whole_pairs(group);
  table.pairs = pairs.size();
  const RowKey base = baseline_of(group, baseline);
  table.floor_s =
      over(group.rows.at(base), pairs, [](const RunFact& run) { return run.floor_jct_s; });
  const auto bound = [](const RunFact& run) { return run.point.bound_jct_s; };
  const Interval bounds = over(group.rows.at(base), pairs, bound);
  if (bounds.n > 0 && bounds.mean > 0) table.bound_s = bounds;
  // All policies have the same jobs, and a file's are the same with each seed.
  for (const auto& [pair, run] : group.rows.at(base)) {
    if (run->dropped + run->duplicates == 0) continue;
    SourceGaps& gaps = table.gaps[pair.first];
    gaps.dropped = std::max(gaps.dropped, run->dropped);
    gaps.duplicates = std::max(gaps.duplicates, run->duplicates);
  }
  for (const RowKey& row_key : group.order) {
    const RowRuns& runs = group.rows.at(row_key);
    table.left_out += runs.size() - pairs.size();
    ComparisonRow row;
    std::tie(row.label, row.agents) = row_key;
    row.baseline = row_key == base;
    const RunPoint& point = runs.begin()->second->point;
    row.family = point.family;
    row.may = point.may;
    row.knows = point.knows;
    row.by_partition = row.family == Family::order && row.agents > 1;
    row.jct_s = over(runs, pairs, [](const RunFact& run) { return run.avg_jct_s; });
    row.p99_jct_s = over(runs, pairs, [](const RunFact& run) { return run.p99_jct_s; });
    row.utilization = over(runs, pairs, [](const RunFact& run) { return run.utilization; });
    for (const Pair& pair : pairs)
      row.unfinished += runs.at(pair)->submitted - runs.at(pair)->finished;
    set_differences(row, runs, group.rows.at(base), pairs);
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return a.jct_s.mean < b.jct_s.mean; });
  mark_best(table.rows, group, pairs);
  return table;
}

}  // namespace

std::vector<ComparisonTable> compare(std::span<const RunFact> runs, const std::string& baseline,
                                     bool together) {
  std::vector<TableKey> order;
  std::map<TableKey, Group> groups;
  for (const RunFact& run : runs) {
    const std::optional<Family> family = together ? std::nullopt : std::optional(run.point.family);
    const TableKey key{family, run.point.topology, run.point.load, run.point.faults};
    if (!groups.contains(key)) order.push_back(key);
    Group& group = groups[key];
    const RowKey row{run.point.label, run.point.agents};
    if (!group.rows.contains(row)) group.order.push_back(row);
    group.rows[row][{run.point.workload, run.point.seed}] = &run;
  }
  std::vector<ComparisonTable> tables;
  tables.reserve(order.size());
  for (const TableKey& key : order) tables.push_back(table_of(key, groups.at(key), baseline));
  std::stable_sort(tables.begin(), tables.end(),
                   [](const auto& a, const auto& b) { return a.family < b.family; });
  return tables;
}

std::string family_text(std::optional<Family> family) {
  if (!family) return "all families";
  switch (*family) {
    case Family::placement:
      return "placement (A)";
    case Family::order:
      return "order (B)";
    case Family::elastic:
      return "elastic (C)";
  }
  return "";
}

}  // namespace starling
