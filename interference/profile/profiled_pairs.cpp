// SPDX-License-Identifier: Apache-2.0
#include "interference/profile/profiled_pairs.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "workload/text/csv.h"

namespace starling {
namespace {

ProfiledPair row_of(const ProfilePlan& plan, std::vector<ProfileSample> samples) {
  ProfiledPair row;
  const ProfileVisit& visit = samples.front().visit;
  row.a = plan.workloads[visit.a];
  row.b = plan.workloads[visit.b];
  row.place = plan.places[visit.place];
  row.repeats = static_cast<std::uint32_t>(samples.size());
  const auto disturbed = std::partition(
      samples.begin(), samples.end(),
      [](const ProfileSample& sample) { return sample.other_load <= kDisturbedAbove; });
  const auto calm = static_cast<std::size_t>(disturbed - samples.begin());
  row.noisy = calm < samples.size() && (2 * calm < samples.size() || calm < 3);
  if (!row.noisy) samples.erase(disturbed, samples.end());

  const auto over = [&](auto value) {
    std::vector<double> values;
    values.reserve(samples.size());
    for (const ProfileSample& sample : samples) values.push_back(value(sample));
    return robust_estimate(std::move(values));
  };
  row.steps_a = over([](const ProfileSample& s) { return s.beside_a; });
  row.steps_b = over([](const ProfileSample& s) { return s.beside_b; });
  row.iso_a = over([](const ProfileSample& s) { return s.alone_a; });
  row.iso_b = over([](const ProfileSample& s) { return s.alone_b; });
  row.norm_a = over([](const ProfileSample& s) { return s.beside_a / s.alone_a; });
  row.norm_b = over([](const ProfileSample& s) { return s.beside_b / s.alone_b; });
  row.per_cpu_a = over([](const ProfileSample& s) {
    return s.beside_a / s.alone_a * s.cpu_alone_a / s.cpu_beside_a;
  });
  row.per_cpu_b = over([](const ProfileSample& s) {
    return s.beside_b / s.alone_b * s.cpu_alone_b / s.cpu_beside_b;
  });
  row.other_load = over([](const ProfileSample& s) { return s.other_load; }).median;
  return row;
}

std::string number(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string range(const Estimate& estimate) {
  if (!estimate.interval) return ",";
  return number("%.4f", estimate.interval->low) + ',' + number("%.4f", estimate.interval->high);
}

}  // namespace

std::vector<ProfiledPair> profiled_pairs(const ProfilePlan& plan,
                                         std::span<const ProfileSample> samples) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<ProfileSample>>
      by_pair;
  for (const ProfileSample& sample : samples) {
    by_pair[{sample.visit.place, sample.visit.a, sample.visit.b}].push_back(sample);
  }
  std::vector<ProfiledPair> rows;
  rows.reserve(by_pair.size());
  for (auto& [pair, own] : by_pair) rows.push_back(row_of(plan, std::move(own)));
  return rows;
}

std::string profiled_pairs_csv(std::span<const ProfiledPair> rows, const std::string& campaign,
                               const std::string& hardware) {
  std::string text =
      "campaign,gpu,model_a,batch_a,model_b,batch_b,steps_per_s_a,steps_per_s_b,iso_a,iso_b,"
      "norm_a,norm_b,flag,relation,core_a,core_b,repeats,repeats_used,norm_a_low,norm_a_high,"
      "norm_b_low,norm_b_high,per_cpu_a,per_cpu_b,other_load\n";
  for (const ProfiledPair& row : rows) {
    const std::string relation(to_text(row.place.relation));
    text += csv_field(campaign) + ',' + csv_field(hardware + '/' + relation) + ',' + row.a.kind +
            ',' + std::to_string(row.a.batch) + ',' + row.b.kind + ',' +
            std::to_string(row.b.batch) + ',';
    for (const Estimate* rate : {&row.steps_a, &row.steps_b, &row.iso_a, &row.iso_b})
      text += number("%.6g", rate->median) + ',';
    for (const Estimate* norm : {&row.norm_a, &row.norm_b})
      text += number("%.4f", norm->median) + ',';
    text += std::string(row.noisy ? "noisy" : "") + ',' + relation + ',' +
            std::to_string(row.place.core_a) + ',' + std::to_string(row.place.core_b) + ',' +
            std::to_string(row.repeats) + ',' + std::to_string(row.norm_a.n) + ',' +
            range(row.norm_a) + ',' + range(row.norm_b) + ',' +
            number("%.4f", row.per_cpu_a.median) + ',' + number("%.4f", row.per_cpu_b.median) +
            ',' + number("%.3f", row.other_load) + '\n';
  }
  return text;
}

}  // namespace starling
