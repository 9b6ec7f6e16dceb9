// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/show_profile.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "launch/system/text.h"

namespace starling {
namespace {

nlohmann::ordered_json interval(const Estimate& estimate) {
  if (!estimate.interval) return nullptr;
  return {estimate.interval->low, estimate.interval->high};
}

std::string cell(const Estimate& estimate, bool noisy) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f%s", estimate.median, noisy ? "*" : "");
  return text;
}

}  // namespace

std::string profile_text(const ProfilePlan& plan, std::span<const ProfiledPair> rows,
                         const std::string& file) {
  std::string text;
  std::size_t noisy = 0;
  double widest = 0;
  for (const ProfiledPair& row : rows) {
    noisy += row.noisy;
    for (const Estimate* norm : {&row.norm_a, &row.norm_b}) {
      if (norm->interval) widest = std::max(widest, norm->interval->high - norm->interval->low);
    }
  }
  for (const CorePlace& place : plan.places) {
    std::map<std::pair<WorkloadSpec, WorkloadSpec>, std::string> cells;
    for (const ProfiledPair& row : rows) {
      if (!(row.place == place)) continue;
      cells[{row.b, row.a}] = cell(row.norm_b, row.noisy);
      cells[{row.a, row.b}] = cell(row.norm_a, row.noisy);
    }
    text += std::string(to_text(place.relation)) + " (cores " + std::to_string(place.core_a) +
            ", " + std::to_string(place.core_b) + "): speed of the row beside the column\n";
    std::vector<std::vector<std::string>> table(1, {""});
    for (const WorkloadSpec& b : plan.workloads) table[0].push_back(to_text(b));
    for (const WorkloadSpec& a : plan.workloads) {
      table.push_back({to_text(a)});
      for (const WorkloadSpec& b : plan.workloads) table.back().push_back(cells[{a, b}]);
    }
    text += table_text(table) + '\n';
  }
  text += with_commas(rows.size()) + " pairs in " + file;
  if (widest > 0) {
    char width[64];
    std::snprintf(width, sizeof width, "; the widest 95 %% interval is %.2f", widest);
    text += width;
  }
  text += noisy == 0 ? "\n"
                     : "; * others disturbed " + with_commas(noisy) +
                           " of them, whose speeds are too high\n";
  return text;
}

std::string profile_json(std::span<const ProfiledPair> rows, const std::string& campaign,
                         const std::string& hardware, const std::string& file) {
  auto pairs = nlohmann::ordered_json::array();
  std::size_t noisy = 0;
  for (const ProfiledPair& row : rows) {
    noisy += row.noisy;
    pairs.push_back({{"relation", to_text(row.place.relation)},
                     {"cores", {row.place.core_a, row.place.core_b}},
                     {"a", to_text(row.a)},
                     {"b", to_text(row.b)},
                     {"iso_a", row.iso_a.median},
                     {"iso_b", row.iso_b.median},
                     {"norm_a", row.norm_a.median},
                     {"norm_b", row.norm_b.median},
                     {"norm_a_95", interval(row.norm_a)},
                     {"norm_b_95", interval(row.norm_b)},
                     {"repeats", row.repeats},
                     {"repeats_used", row.norm_a.n},
                     {"other_load", row.other_load},
                     {"noisy", row.noisy}});
  }
  const nlohmann::ordered_json all = {{"campaign", campaign},
                                      {"hardware", hardware},
                                      {"file", file},
                                      {"noisy", noisy},
                                      {"pairs", std::move(pairs)}};
  return all.dump(1) + '\n';
}

}  // namespace starling
