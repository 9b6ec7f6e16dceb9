// SPDX-License-Identifier: Apache-2.0
// Gavel's consolidated and unconsolidated throughputs: how much a job loses when it is spread.
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "interference/fit/data_table.h"
#include "interference/fit/sources.h"

namespace starling {
namespace {

// A measured ratio above this says that spreading a job made it faster, by more than the target; an
// iteration that is so much slower than on more GPUs, or faster than on fewer, says that more
// exchange cost less. Either is noise. One GPU exchanges nothing and is not compared: on V100s it
// was short of CPUs.
constexpr double kFaster = 1.15;
constexpr double kSwing = 1.15;
constexpr double kTarget = 0.15;

struct Point {
  double near_s = 0;  // of one iteration, consolidated
  double far_s = 0;
};
// By batch and number of GPUs.
using Points = std::map<std::pair<double, std::uint32_t>, Point>;

std::string why_noisy(const Points& points, Points::const_iterator at) {
  const auto& [key, point] = *at;
  char text[96];
  if (point.near_s / point.far_s > kFaster) {
    std::snprintf(text, sizeof text, "%.2f times as fast spread as packed",
                  point.near_s / point.far_s);
    return text;
  }
  for (const auto& [other, its] : points) {
    if (other.first != key.first || other.second == 1) continue;
    for (const auto& [mine_s, its_s, where] :
         {std::tuple{point.near_s, its.near_s, "packed"}, {point.far_s, its.far_s, "spread"}}) {
      if (mine_s <= 0 || its_s <= 0) continue;
      const bool fewer = other.second < key.second && mine_s * kSwing < its_s;
      const bool more = other.second > key.second && mine_s > its_s * kSwing;
      if (!fewer && !more) continue;
      std::snprintf(text, sizeof text, "%s, an iteration takes %.2f of what it takes on %u GPUs",
                    where, mine_s / its_s, other.second);
      return text;
    }
  }
  return {};
}

// One GPU type and model: its samples, and of each pair whether it is noise.
struct Group {
  std::vector<TierSample> samples;
  std::vector<RatioSample> ratios;
  std::vector<bool> noisy;  // by ratio
};

Group group_of(const std::string& name, const Points& points, std::vector<std::string>& noise) {
  Group group;
  for (auto at = points.begin(); at != points.end(); ++at) {
    const auto& [key, point] = *at;
    if (key.second == 1 || point.near_s <= 0 || point.far_s <= 0) continue;
    const std::string why = why_noisy(points, at);
    if (!why.empty()) {
      noise.push_back("gavel " + name + " batch " + std::to_string(static_cast<int>(key.first)) +
                      " on " + std::to_string(key.second) + " GPUs: " + why);
    }
    group.noisy.push_back(!why.empty());
    group.ratios.push_back({group.samples.size(), group.samples.size() + 1});
    group.samples.push_back({key.first, 1, key.second, false, point.near_s});
    group.samples.push_back({key.first, 1, key.second, true, point.far_s});
  }
  return group;
}

// The constants from what is not noise, or from everything where all of it is.
TierConstants fit_clean(const Group& group) {
  std::vector<TierSample> samples;
  std::vector<RatioSample> ratios;
  for (std::size_t i = 0; i < group.ratios.size(); ++i) {
    if (group.noisy[i]) continue;
    ratios.push_back({samples.size(), samples.size() + 1});
    samples.push_back(group.samples[group.ratios[i].near]);
    samples.push_back(group.samples[group.ratios[i].far]);
  }
  return ratios.empty() ? fit_tiers(group.samples, group.ratios) : fit_tiers(samples, ratios);
}

double ratio_error(const TierConstants& c, const TierSample& near, const TierSample& far) {
  const double fitted = c.iteration_s(near.batch, near.micro, near.gpus, near.across) /
                        c.iteration_s(far.batch, far.micro, far.gpus, far.across);
  return std::abs(fitted / (near.iteration_s / far.iteration_s) - 1);
}

FittedModel fit_group(const std::string& gpu, const std::string& name, const Group& group) {
  FittedModel model;
  model.source = "gavel";
  model.gpu = gpu;
  model.application = name;
  model.constants = fit_clean(group);
  model.rows = group.ratios.size();
  for (std::size_t i = 0; i < group.ratios.size(); ++i) {
    const double error = ratio_error(model.constants, group.samples[group.ratios[i].near],
                                     group.samples[group.ratios[i].far]);
    model.error_all += error;
    if (group.noisy[i]) {
      ++model.noisy;
    } else {
      model.error += error;
    }
  }
  model.error_all /= static_cast<double>(model.rows);
  if (model.noisy < model.rows) model.error /= static_cast<double>(model.rows - model.noisy);
  return model;
}

}  // namespace

Status fit_gavel(const std::filesystem::path& folder, FitReport& report) {
  const auto table = DataTable::read(
      folder / "gavel" / "isolated.csv",
      {"campaign", "gpu", "placement", "model", "batch_size", "scale_factor", "steps_per_s"});
  if (!table) return table.error();
  std::map<std::pair<std::string, std::string>, Points> groups;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    if (table.value().text(row, "campaign") != "2020_sim") continue;
    const Result<double> batch = table.value().number(row, "batch_size");
    const Result<double> gpus = table.value().number(row, "scale_factor");
    const Result<double> speed = table.value().number(row, "steps_per_s");
    if (!batch) return batch.error();
    if (!gpus) return gpus.error();
    if (!speed) return speed.error();
    if (speed.value() <= 0) continue;  // does not fit
    Point& point = groups[{table.value().text(row, "gpu"), table.value().text(row, "model")}]
                         [{batch.value(), static_cast<std::uint32_t>(gpus.value())}];
    // Steps of all workers are counted together.
    const double iteration_s = gpus.value() / speed.value();
    (table.value().text(row, "placement") == "consolidated" ? point.near_s : point.far_s) =
        iteration_s;
  }
  SourceError all{"gavel", "unconsolidated / consolidated speed", 0, 0, 0, 0, kTarget};
  for (const auto& [key, points] : groups) {
    const Group group = group_of(key.first + ' ' + key.second, points, report.noise);
    if (group.ratios.empty()) continue;
    FittedModel model = fit_group(key.first, key.second, group);
    all.rows += model.rows;
    all.noisy += model.noisy;
    all.error += model.error * static_cast<double>(model.rows - model.noisy);
    all.error_all += model.error_all * static_cast<double>(model.rows);
    report.models.push_back(std::move(model));
  }
  if (all.rows > all.noisy) all.error /= static_cast<double>(all.rows - all.noisy);
  if (all.rows > 0) all.error_all /= static_cast<double>(all.rows);
  report.sources.push_back(std::move(all));
  return done();
}

}  // namespace starling
