// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/counted.h"
#include "launch/experiment/compare.h"

namespace starling {
namespace {

constexpr const char* kByPartition =
    "orders the jobs of each partition by themselves: a job that blocks one queue does not block "
    "the others, and no queue keeps the order of all jobs. Not the same policy as with one "
    "agent, so no rank against it.";

constexpr const char* kUnlike =
    "Rows that may do other things, or know more or less of how long jobs take, are not like for "
    "like: between them the figures tell what doing or knowing that is worth, not which policy is "
    "better.";
constexpr const char* kBest =
    "the lowest mean JCT of the rows with the same *may* and *knows*, or not told apart from it: "
    "the 95 % interval of the paired differences has 0 in it. Who is alone with its *may* and "
    "*knows* has no mark, nor who has † or jobs that did not finish.";

std::string number(const char* format, double x) {
  char text[64];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

/// "4.71 ± 0.32": digits after the point such that three figures of the mean are told.
std::string with_interval(const Interval& value, double unit) {
  const double mean = value.mean / unit;
  const char* const format = std::abs(mean) >= 100  ? "%.0f"
                             : std::abs(mean) >= 10 ? "%.1f"
                                                    : "%.2f";
  std::string text = number(format, mean);
  if (value.n > 1) text += " ± " + number(format, value.half / unit);
  return text;
}

std::string percent(const Interval& share) {
  std::string text = number("%+.1f", 100 * share.mean);
  if (share.n > 1) text += " ± " + number("%.1f", 100 * share.half);
  return text + " %";
}

std::string label_of(const ComparisonRow& row, bool with_agents) {
  return row.label + (with_agents ? ", " + counted(row.agents, "agent") : "");
}

/// `label`: the policy's. `together`: with the columns of tables over all families.
void add_row(const ComparisonRow& row, const std::string& label, double unit, bool together,
             std::string& text) {
  text += "| " + label + (row.by_partition ? " †" : "") + (together && row.best ? " ‡" : "") +
          (row.unfinished > 0 ? " *" : "") + " | ";
  if (together) text += text_of(row.may) + " | " + row.knows + " | ";
  text += with_interval(row.jct_s, unit) + " | " + with_interval(row.p99_jct_s, unit) + " | " +
          number("%.1f %%", 100 * row.utilization.mean) + " | ";
  if (row.baseline) {
    text += "baseline | | |\n";
    return;
  }
  text += with_interval(row.less_s, unit) + " | " + percent(row.less_share) + " | " +
          (row.excess_removed ? number("%.0f %%", 100 * *row.excess_removed) : std::string("–")) +
          " |\n";
}

std::string gaps_text(const SourceGaps& gaps) {
  std::string text;
  if (gaps.dropped > 0) text = counted(gaps.dropped, "row") + " dropped (no GPU or 0 s)";
  if (gaps.duplicates > 0) {
    text += (text.empty() ? "" : ", ") + counted(gaps.duplicates, "job") + " of a name used before";
  }
  return text;
}

void add_notes(const ComparisonTable& table, std::string& text) {
  for (const std::string& note : table_notes({&table, 1})) text += "\n" + note + "\n";
  std::uint64_t unfinished = 0;
  for (const ComparisonRow& row : table.rows) unfinished += row.unfinished;
  if (unfinished > 0) {
    text += "\n\\* " + counted(unfinished, "job") +
            " of these policies did not finish; their JCT is that of the finished ones.\n";
  }
}

void add_table(const ComparisonTable& table, std::string& text) {
  bool with_agents = false;
  for (const ComparisonRow& row : table.rows) with_agents |= row.agents != 1;
  // The unit follows the table: hours where the floor is above a tenth of one.
  const bool hours = table.floor_s.mean >= 360;
  const double unit = hours ? 3600 : 1;
  const std::string in = hours ? " (h)" : " (s)";
  std::string baseline;
  for (const ComparisonRow& row : table.rows) {
    if (row.baseline) baseline = label_of(row, with_agents);
  }
  text += "\n## " + family_text(table.family) + ", " + table.topology +
          (table.faults.empty() ? "" : ", faults " + table.faults) +
          (table.load > 0 ? ", load " + number("%.3g", table.load) : ", arrivals as given") +
          "\n\n";
  text +=
      std::to_string(table.pairs) +
      (table.pairs == 1 ? " paired run; floor " : " paired runs; floor ") +
      with_interval(table.floor_s, unit) + (hours ? " h" : " s") +
      (table.bound_s.n > 0 ? "; bound " + with_interval(table.bound_s, unit) + (hours ? " h" : " s")
                           : std::string()) +
      "; baseline " + baseline + ".";
  if (table.left_out > 0) {
    text += " " + counted(table.left_out, "run is", "runs are") +
            " left out, because other policies have not finished the same jobs.";
  }
  const bool together = !table.family;
  text += std::string("\n\n| policy | ") + (together ? "may | knows | " : "") + "mean JCT" + in +
          " | p99 JCT" + in + " | utilisation | under the baseline" + in +
          " | under the baseline | excess removed |\n| --- | " + (together ? "--- | --- | " : "") +
          "---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const ComparisonRow& row : table.rows)
    add_row(row, label_of(row, with_agents), unit, together, text);
  add_notes(table, text);
}

}  // namespace

std::vector<std::string> table_notes(std::span<const ComparisonTable> tables) {
  bool unlike = false, best = false, by_partition = false;
  std::map<std::string, SourceGaps> gaps;
  for (const ComparisonTable& table : tables) {
    gaps.insert(table.gaps.begin(), table.gaps.end());
    for (const ComparisonRow& row : table.rows) {
      const ComparisonRow& first = table.rows.front();
      unlike |= !table.family && (row.may != first.may || row.knows != first.knows);
      best |= !table.family && row.best;
      by_partition |= row.by_partition;
    }
  }
  std::vector<std::string> notes;
  if (unlike) notes.emplace_back(kUnlike);
  if (best) notes.push_back(std::string("‡ ") + kBest);
  if (by_partition) notes.push_back(std::string("† ") + kByPartition);
  for (const auto& [workload, some] : gaps)
    notes.push_back(workload + ": " + gaps_text(some) + ".");
  return notes;
}

std::string tables_markdown(const std::string& name, std::span<const ComparisonTable> tables,
                            std::span<const std::string> notes) {
  std::string text = "# " + name +
                     "\n\n± is the half width of the 95 % interval (Student's t) over paired runs; "
                     "\"under the baseline\" is the mean of the paired differences. Excess removed "
                     "is the median over the pairs of (baseline − policy) / (baseline − floor). ";
  const bool bounded =
      std::ranges::any_of(tables, [](const ComparisonTable& table) { return table.bound_s.n > 0; });
  if (bounded)
    text +=
        "Bound: no policy that gives each GPU to one job at a time, and a job GPUs of one type, "
        "the batch and the parameter servers that it asks for, has a lower mean JCT, whatever it "
        "knows of the future. ";
  const bool together = !tables.empty() && !tables.front().family;
  text += together ? "*may*: what a policy may do; *knows*: what it knows of how long jobs take.\n"
                   : "Families may do different things and are not ranked against one another.\n";
  for (const std::string& note : notes) text += "\n" + note + "\n";
  for (const ComparisonTable& table : tables) add_table(table, text);
  return text;
}

}  // namespace starling
