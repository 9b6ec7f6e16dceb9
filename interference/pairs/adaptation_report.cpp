// SPDX-License-Identifier: Apache-2.0
#include "interference/pairs/adaptation_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

namespace starling {
namespace {

constexpr std::uint32_t kAt[] = {0, 5, 10, 20, 40, 80};
constexpr std::size_t kLeastPairs = 8;  // a quarter of them judges

std::size_t pairs_of(const ShiftTask& task) {
  std::set<std::uint32_t> pairs;
  for (const ShiftRow& row : task.rows) pairs.insert(row.pair);
  return pairs.size();
}

struct Change {
  const PairData* data = nullptr;
  std::string believed, world;
};

/// A change that is judged, and those that its prior is learned from.
struct Judged {
  ShiftTask task;
  std::vector<ShiftTask> others;
};

std::vector<Change> changes_of(const PairData& gavel, const PairData* h100) {
  std::vector<Change> out;
  for (const char* gpu : {"k80", "p100", "v100"}) {
    const std::string older = std::string("2019_raw/") + gpu, later = std::string("2020/") + gpu;
    out.push_back({&gavel, later, older});
    out.push_back({&gavel, older, later});
  }
  if (h100 == nullptr) return out;
  for (const std::string& set : h100->sets) out.push_back({h100, "2020/v100", set});
  return out;
}

AdaptationRow row_of(const ShiftTask& task, const ShiftPrior& prior, AdaptationArm arm,
                     AdaptationOptions options, std::uint32_t seeds,
                     std::span<const std::uint32_t> at) {
  AdaptationRow row{task.believed, task.world, arm, {}, 0, {}, {}};
  std::vector<double> halves;
  std::vector<std::vector<double>> mae(at.size()), covered(at.size());
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    options.seed = seed;
    const AdaptationCurve curve = adaptation_curve(task, prior, arm, options);
    const std::uint32_t half = samples_to_half(curve);
    if (half == curve.points.size()) ++row.never;
    halves.push_back(half);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const AdaptationPoint& point =
          curve.points[std::min<std::size_t>(at[i], curve.points.size() - 1)];
      mae[i].push_back(point.mae);
      covered[i].push_back(point.coverage90);
    }
  }
  row.to_half = over_seeds(halves);
  for (const auto& values : mae) row.mae.push_back(over_seeds(values));
  for (const auto& values : covered) row.covered.push_back(over_seeds(values));
  return row;
}

}  // namespace

OverSeeds over_seeds(std::span<const double> values) {
  OverSeeds out;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) out.mean += value / n;
  for (const double value : values) out.deviation += (value - out.mean) * (value - out.mean);
  out.deviation = n > 1 ? std::sqrt(out.deviation / (n - 1)) : 0;
  return out;
}

Result<AdaptationReport> report_adaptation(
    const InterferenceNet& net, const std::filesystem::path& folder,
    const AdaptationOptions& options, std::uint32_t seeds, const MetaOptions& meta,
    const std::function<void(const std::string& change)>& progress) {
  const std::filesystem::path campaigns = folder / "gavel" / "colocated.csv";
  const auto gavel = read_pairs(campaigns);
  if (!gavel) return gavel.error();
  const std::filesystem::path file = folder / "h100_pairs" / "pairs.csv";
  std::error_code ignored;
  const bool newer = std::filesystem::exists(file, ignored);
  const auto h100 = newer ? read_pairs(file) : Result<PairData>(PairData{});
  if (!h100) return h100.error();
  AdaptationReport report;
  report.seeds = seeds;
  for (const std::uint32_t at : kAt) {
    if (at <= options.samples) report.at.push_back(at);
  }
  std::vector<Judged> judged;
  for (const Change& change : changes_of(gavel.value(), newer ? &h100.value() : nullptr)) {
    const std::filesystem::path& of = change.data == &gavel.value() ? campaigns : file;
    auto task = make_shift_task(net, *change.data, change.believed, change.world);
    if (!task) return Error{task.error().code, of.string() + ": " + task.error().message};
    auto others = all_shifts(net, gavel.value(), change.world);
    if (others.size() < kLeastShifts)
      return Error{Errc::invalid,
                   campaigns.string() + ": " + too_few_shifts(net, gavel.value(), change.world)};
    if (pairs_of(task.value()) < kLeastPairs)
      return Error{Errc::invalid,
                   of.string() + ": fewer than " + std::to_string(kLeastPairs) +
                       " measured pairs of " + change.world +
                       ", of which a part is kept apart to judge by; give at least so many"};
    judged.push_back({std::move(task).value(), std::move(others)});
  }
  for (const auto& [task, others] : judged) {
    if (progress) progress(task.believed + " to " + task.world);
    const ShiftPrior prior = meta_train(others, meta);
    for (const AdaptationArm arm : kAdaptationArms)
      report.rows.push_back(row_of(task, prior, arm, options, seeds, report.at));
  }
  return report;
}

std::string to_text(const AdaptationReport& report) {
  char text[200];
  std::string out =
      "mean absolute error of relative speeds on pairs that are never measured, and "
      "part of them in their 90 % interval\n";
  std::snprintf(text, sizeof text, "%-12s %-18s %-22s %14s", "believed", "world", "arm", "to half");
  out += text;
  for (const std::uint32_t at : report.at) {
    std::snprintf(text, sizeof text, "  %15s", ("after " + std::to_string(at)).c_str());
    out += text;
  }
  out += '\n';
  for (const AdaptationRow& row : report.rows) {
    std::snprintf(text, sizeof text, "%-12s %-18s %-22s %5.1f ± %4.1f%s", row.believed.c_str(),
                  row.world.c_str(), to_string(row.arm), row.to_half.mean, row.to_half.deviation,
                  row.never > 0 ? "*" : " ");
    out += text;
    for (std::size_t i = 0; i < row.mae.size(); ++i) {
      std::snprintf(text, sizeof text, "  %.3f±%.3f %2.0f%%", row.mae[i].mean, row.mae[i].deviation,
                    100 * row.covered[i].mean);
      out += text;
    }
    out += '\n';
  }
  out += "* some runs never halved it and count as one more than all\n";
  return out;
}

std::string to_json(const AdaptationReport& report) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  const auto json_of = [](const OverSeeds& s) {
    return Json{{"mean", s.mean}, {"sd", s.deviation}};
  };
  for (const AdaptationRow& row : report.rows) {
    Json points = Json::array();
    for (std::size_t i = 0; i < row.mae.size(); ++i)
      points.push_back(Json{{"samples", report.at[i]},
                            {"mae", json_of(row.mae[i])},
                            {"coverage90", json_of(row.covered[i])}});
    rows.push_back(Json{{"believed", row.believed},
                        {"world", row.world},
                        {"arm", to_string(row.arm)},
                        {"samples_to_half", json_of(row.to_half)},
                        {"never", row.never},
                        {"points", points}});
  }
  return Json{{"seeds", report.seeds}, {"rows", rows}}.dump(2) + "\n";
}

}  // namespace starling
