// SPDX-License-Identifier: Apache-2.0
#include "interference/pairs/pair_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace starling {
namespace {

constexpr double kSmallestGpu = 12, kGpu = 16;  // GiB, of Gavel's K80 and its others

/// The part that answers for a file, and the set that stands for one of the file's.
struct Asked {
  const PairPart* part = nullptr;
  std::vector<std::size_t> set;  // by the file's
  std::vector<PairType> types;   // by the file's
  std::vector<bool> known;       // by the file's
  std::string note;
};

std::size_t stands_for(const PairModel& model, const std::string& set) {
  if (const std::int32_t same = model.set(set); same >= 0) return static_cast<std::size_t>(same);
  // Another campaign on a GPU type that was measured, or a type that was not.
  const std::size_t slash = set.find('/');
  const std::string gpu = slash == std::string::npos ? set : set.substr(slash + 1);
  const std::int32_t of = gpu_set_of(model, gpu_kind(gpu));
  const std::int32_t usual = gpu_set_of(model, GpuKind::v100);
  return static_cast<std::size_t>(std::max(of >= 0 ? of : usual, 0));
}

Result<Asked> ask(const InterferenceNet& net, const PairData& data) {
  Asked out;
  out.types = data.types;
  const bool foreign = data.source == PairSource::lucid && !net.lucid;
  const std::optional<PairPart>& part = data.source == PairSource::deepshare          ? net.link
                                        : foreign || data.source == PairSource::gavel ? net.gpu
                                                                                      : net.lucid;
  if (!part)
    return Error{Errc::unsupported, std::string("the weights have no part for the pairs of ") +
                                        to_string(data.source) + "; give others with --weights"};
  out.part = &*part;
  if (foreign) {
    out.note =
        "these weights were not fitted to Lucid's pairs (their licence forbids to pass such on): "
        "jobs are told by their catalogue profile, on a V100; 'starling train interference --set "
        "lucid' makes weights of your own";
    for (PairType& type : out.types) {
      const auto profile = gpu_type_of(model_profile(type.model)).profile;
      type = {"", "", {}, profile};
    }
  }
  for (const std::string& set : data.sets) out.set.push_back(stands_for(part->model, set));
  for (const PairType& type : out.types) out.known.push_back(part->model.type(type.name) >= 0);
  return out;
}

void add_feasibility(const InterferenceNet& net, const PairData& data, PairReport& report) {
  std::vector<std::pair<double, bool>> scores;
  bool failed = false;
  for (const PairFit& fit : data.fits) {
    const double gib = data.sets[fit.set].find("k80") != std::string::npos ? kSmallestGpu : kGpu;
    scores.emplace_back(net.feasibility(model_profile(data.types[fit.one].name),
                                        model_profile(data.types[fit.other].name), gib),
                        fit.ran);
    failed = failed || !fit.ran;
  }
  if (failed) report.feasibility_auc = area_under_curve(scores);
}

nlohmann::ordered_json json_of(const PairErrors& e) {
  return {{"rows", e.rows},
          {"mae", e.mae},
          {"rmse", e.rmse},
          {"coverage90", e.coverage90},
          {"mean_mae", e.mean_mae}};
}

}  // namespace

Result<PairReport> report_pairs(const InterferenceNet& net, const PairData& data) {
  const auto asked = ask(net, data);
  if (!asked) return asked.error();
  const Asked& a = asked.value();
  PairReport report;
  report.note = a.note;
  std::map<std::string, std::pair<double, double>> means;  // sum and number
  for (const PairRow& row : data.rows) {
    auto& [sum, rows] = means[data.sets[row.set]];
    sum += static_cast<double>(row.speed);
    rows += 1;
  }
  for (std::uint32_t i = 0; i < data.rows.size(); ++i) {
    const PairRow& row = data.rows[i];
    const std::size_t set = a.set[row.set];
    const PairGuess guess = a.part->model.guess(a.types[row.victim], a.types[row.other], set);
    const bool known = a.known[row.victim] && a.known[row.other];
    const PairAnswer answer{as_measured(data, row.set, guess.mean),
                            a.part->intervals.half(guess, set, known)};
    const auto speed = static_cast<double>(row.speed);
    const auto& [sum, rows] = means[data.sets[row.set]];
    for (PairErrors* errors : {&report.all, &report.groups[data.sets[row.set]]}) {
      errors->add(speed, answer);
      errors->mean_mae += std::abs(speed - sum / rows);
    }
    report.rows.push_back({i, answer});
  }
  report.all.close();
  for (auto& [set, errors] : report.groups) errors.close();
  if (data.source != PairSource::deepshare) {
    std::vector<double> ours;
    for (const PairReport::Row& row : report.rows) ours.push_back(row.answer.speed);
    report.worth = worth_sharing(data, ours);
  }
  add_feasibility(net, data, report);
  return report;
}

std::string to_json(const PairReport& report) {
  nlohmann::ordered_json out = json_of(report.all);
  nlohmann::ordered_json groups = nlohmann::ordered_json::object();
  for (const auto& [set, errors] : report.groups) groups[set] = json_of(errors);
  out["groups"] = groups;
  nlohmann::ordered_json worth = nlohmann::ordered_json::array();
  for (const ShareWorth& w : report.worth)
    worth.push_back({{"gain", w.gain}, {"pairs", w.pairs}, {"wrong", w.wrong}});
  out["worth_sharing"] = worth;
  if (report.feasibility_auc) {
    out["feasibility_auc"] = *report.feasibility_auc;
  } else {
    out["feasibility_auc"] = nullptr;
  }
  if (!report.note.empty()) out["note"] = report.note;
  return out.dump(1) + "\n";
}

std::string to_text(const PairReport& report) {
  std::string out = "set              rows     MAE    rmse  in 90 %  always the mean\n";
  char line[160];
  const auto add = [&](const std::string& name, const PairErrors& e) {
    std::snprintf(line, sizeof line, "%-14s %6llu  %.4f  %.4f    %5.1f  %.4f\n", name.c_str(),
                  static_cast<unsigned long long>(e.rows), e.mae, e.rmse, 100 * e.coverage90,
                  e.mean_mae);
    out += line;
  };
  for (const auto& [set, errors] : report.groups) add(set, errors);
  if (report.groups.size() > 1) add("together", report.all);
  for (const ShareWorth& w : report.worth) {
    std::snprintf(line, sizeof line,
                  "worth sharing (together more than %.1f): %llu of %llu pairs told wrongly\n",
                  1 + w.gain, static_cast<unsigned long long>(w.wrong),
                  static_cast<unsigned long long>(w.pairs));
    out += line;
  }
  if (report.feasibility_auc) {
    std::snprintf(line, sizeof line, "which pairs run at all: area under the curve %.4f\n",
                  *report.feasibility_auc);
    out += line;
  }
  return out;
}

}  // namespace starling
