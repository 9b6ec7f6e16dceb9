// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include "launch/experiment/compare.h"
#include "workload/text/csv.h"

namespace starling {
namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", x);
  return text;
}

/// Mean and half width; nothing where they are not known.
std::string fields(const Interval& x) {
  return "," + (x.n > 0 ? number(x.mean) : "") + "," + (x.n > 1 ? number(x.half) : "");
}

std::string yes_no(bool yes) { return yes ? ",yes" : ",no"; }

}  // namespace

std::string tables_csv(std::span<const ComparisonTable> tables) {
  std::string text =
      "topology,load,faults,policy,agents,family,may,knows,best,baseline,by_partition,pairs,"
      "floor_jct_s,avg_jct_s,avg_jct_half95_s,p99_jct_s,p99_jct_half95_s,gpu_utilization,"
      "under_baseline_s,under_baseline_half95_s,under_baseline_share,"
      "under_baseline_share_half95,excess_removed,unfinished_jobs,bound_jct_s,"
      "rows_dropped,duplicate_names\n";
  for (const ComparisonTable& table : tables) {
    SourceGaps gaps;
    for (const auto& [workload, some] : table.gaps)
      gaps.dropped += some.dropped, gaps.duplicates += some.duplicates;
    for (const ComparisonRow& row : table.rows) {
      text += csv_field(table.topology) + ',' + (table.load > 0 ? number(table.load) : "") + ',' +
              csv_field(table.faults) + ',' + csv_field(row.label) + ',' +
              std::to_string(row.agents) + ',' + static_cast<char>(row.family) + ',' +
              csv_field(text_of(row.may)) + ',' + csv_field(row.knows) + yes_no(row.best) +
              yes_no(row.baseline) + yes_no(row.by_partition) + ',' + std::to_string(table.pairs) +
              ',' + (table.floor_s.n > 0 ? number(table.floor_s.mean) : "") + fields(row.jct_s) +
              fields(row.p99_jct_s) + ',' + number(row.utilization.mean) + fields(row.less_s) +
              fields(row.less_share) + ',' +
              (row.excess_removed ? number(*row.excess_removed) : "") + ',' +
              std::to_string(row.unfinished) + ',' +
              (table.bound_s.n > 0 ? number(table.bound_s.mean) : "") + ',' +
              std::to_string(gaps.dropped) + ',' + std::to_string(gaps.duplicates) + '\n';
    }
  }
  return text;
}

}  // namespace starling
