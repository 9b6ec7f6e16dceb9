// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/goodput_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "interference/fit/goodput_sources.h"

namespace starling {
namespace {

// One of so many placements is withheld.
constexpr std::size_t kFolds = 5;

// The source's own limit where it is below what was measured.
double most_local(const std::string& application, double measured) {
  return application == "yolov3" ? 8 : measured;
}

RowError error_of(const StepTime& time, std::span<const StepSample> samples) {
  return {samples.size(), mean_relative_error(time, samples)};
}

std::vector<StepSample> samples_of(const std::vector<PlacedStep>& steps) {
  std::vector<StepSample> samples;
  samples.reserve(steps.size());
  for (const PlacedStep& step : steps) samples.push_back(step.sample);
  return samples;
}

// Those at a GPU's share of a batch of `runs`; the source rounds its local batches.
std::vector<StepSample> at_own_batches(const std::vector<StepSample>& samples,
                                       const NoiseRuns& runs) {
  std::vector<StepSample> own;
  for (const StepSample& s : samples) {
    for (const auto& [batch, epochs] : runs) {
      const double share = std::ceil(batch / s.shape.replicas - 1e-8);
      if (std::abs(share - s.shape.local_batch) > 1) continue;
      own.push_back(s);
      break;
    }
  }
  return own;
}

// By a fit to all other placements and to `scale`. One GPU is no placement to be withheld.
RowError withheld_error(const std::vector<PlacedStep>& steps,
                        const std::vector<StepSample>& scale) {
  std::set<std::string> names;
  for (const PlacedStep& step : steps) names.insert(step.placement);
  names.erase("1");
  std::set<std::string> withheld;
  std::size_t index = 0;
  for (const std::string& name : names) {
    if (index++ % kFolds == kFolds - 1) withheld.insert(name);
  }
  std::vector<StepSample> seen = scale;
  std::vector<StepSample> unseen;
  for (const PlacedStep& step : steps)
    (withheld.contains(step.placement) ? unseen : seen).push_back(step.sample);
  return error_of(fit_step_time(seen, true), unseen);
}

FittedGoodput fit_application(const std::string& name, const std::vector<PlacedStep>& steps,
                              const std::vector<StepSample>& scale, const NoiseRuns& runs) {
  FittedGoodput fitted;
  fitted.application = name;
  const std::vector<StepSample> placed = samples_of(steps);
  std::vector<StepSample> all = placed;
  all.insert(all.end(), scale.begin(), scale.end());
  fitted.time = fit_step_time(all, true);
  fitted.errors.placements = error_of(fitted.time, placed);
  fitted.errors.own = error_of(fitted.time, at_own_batches(placed, runs));
  fitted.errors.scale = error_of(fitted.time, scale);
  fitted.errors.withheld = withheld_error(steps, scale);
  const StepTime paper = fit_step_time(placed, false);
  fitted.errors.paper = error_of(paper, placed);
  fitted.errors.paper_scale = error_of(paper, scale);

  fitted.noise = fit_noise(runs);
  std::size_t epochs = 0;
  for (const auto& [batch, run] : runs) epochs += batch > fitted.noise.own_batch ? run.size() : 0;
  fitted.efficiency = {epochs, mean_efficiency_error(fitted.noise, runs)};
  const auto [least, most] = std::minmax_element(
      placed.begin(), placed.end(),
      [](const auto& a, const auto& b) { return a.shape.local_batch < b.shape.local_batch; });
  fitted.limits = {fitted.noise.own_batch, fitted.noise.largest_batch, least->shape.local_batch,
                   most_local(name, most->shape.local_batch)};
  return fitted;
}

FittedScaling fit_scaling(const std::string& gpu, const std::string& model,
                          const std::vector<StepSample>& samples) {
  FittedScaling fitted{gpu, model, fit_step_time(samples, true), {}, {}};
  fitted.all = error_of(fitted.time, samples);
  std::vector<StepSample> seen;
  std::vector<StepSample> unseen;
  for (std::size_t i = 0; i < samples.size(); ++i)
    (i % kFolds == kFolds - 1 ? unseen : seen).push_back(samples[i]);
  fitted.withheld = error_of(fit_step_time(seen, true), unseen);
  return fitted;
}

}  // namespace

void RowError::add(const RowError& other) noexcept {
  const auto mine = static_cast<double>(rows);
  const auto its = static_cast<double>(other.rows);
  if (other.rows > 0) error = (error * mine + other.error * its) / (mine + its);
  rows += other.rows;
}

void StepErrors::add(const StepErrors& other) noexcept {
  placements.add(other.placements);
  own.add(other.own);
  scale.add(other.scale);
  withheld.add(other.withheld);
  paper.add(other.paper);
  paper_scale.add(other.paper_scale);
}

Result<GoodputReport> fit_goodput(const std::filesystem::path& data_folder) {
  const auto placements = read_pollux_placements(data_folder);
  if (!placements) return placements.error();
  const auto scale = read_pollux_scalability(data_folder);
  if (!scale) return scale.error();
  const auto noise = read_pollux_noise(data_folder);
  if (!noise) return noise.error();
  const auto elastic = read_elasticflow_steps(data_folder);
  if (!elastic) return elastic.error();
  GoodputReport report;
  for (const auto& [name, steps] : placements.value()) {
    const auto further = scale.value().find(name);
    const auto runs = noise.value().find(name);
    if (further == scale.value().end() || runs == noise.value().end()) {
      return {Errc::invalid, (data_folder / "pollux").string() + ": application '" + name +
                                 "' of placements.csv is not in the other two files"};
    }
    report.applications.push_back(fit_application(name, steps, further->second, runs->second));
  }
  for (const auto& [key, samples] : elastic.value())
    report.scaling.push_back(fit_scaling(key.first, key.second, samples));
  return report;
}

}  // namespace starling
