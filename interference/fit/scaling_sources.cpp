// SPDX-License-Identifier: Apache-2.0
// Iteration times against placements and numbers of GPUs: Pollux and ElasticFlow.
#include <map>

#include "interference/fit/goodput_sources.h"
#include "interference/fit/sources.h"

namespace starling {
namespace {

using Groups = std::map<std::pair<std::string, std::string>, std::vector<TierSample>>;

TierSample tier_sample(const StepSample& step) {
  const StepShape& shape = step.shape;
  return {shape.local_batch, shape.accumulation + 1, shape.replicas, shape.servers > 1,
          step.step_s};
}

void add_fits(const std::string& source, const std::string& measure, const Groups& groups,
              FitReport& report) {
  SourceError all{source, measure, 0, 0, 0, 0, 0.10};
  for (const auto& [key, samples] : groups) {
    FittedModel model;
    model.source = source;
    model.gpu = key.first;
    model.application = key.second;
    model.constants = fit_tiers(samples);
    model.rows = samples.size();
    model.error = mean_relative_error(model.constants, samples);
    model.error_all = model.error;
    all.rows += model.rows;
    all.error += model.error * static_cast<double>(model.rows);
    report.models.push_back(std::move(model));
  }
  if (all.rows > 0) all.error /= static_cast<double>(all.rows);
  all.error_all = all.error;
  report.sources.push_back(std::move(all));
}

}  // namespace

Status fit_pollux(const std::filesystem::path& folder, FitReport& report) {
  const auto steps = read_pollux_placements(folder);
  if (!steps) return steps.error();
  Groups groups;
  for (const auto& [application, placed] : steps.value()) {
    for (const PlacedStep& step : placed)
      groups[{"T4", application}].push_back(tier_sample(step.sample));
  }
  add_fits("pollux", "iteration time by placement", groups, report);
  return done();
}

Status fit_elasticflow(const std::filesystem::path& folder, FitReport& report) {
  const auto steps = read_elasticflow_steps(folder);
  if (!steps) return steps.error();
  Groups groups;
  for (const auto& [key, samples] : steps.value()) {
    for (const StepSample& sample : samples) groups[key].push_back(tier_sample(sample));
  }
  add_fits("elasticflow", "iteration time by number of GPUs", groups, report);
  return done();
}

}  // namespace starling
