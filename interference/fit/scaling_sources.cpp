// SPDX-License-Identifier: Apache-2.0
// Iteration times against placements and numbers of GPUs: Pollux and ElasticFlow.
#include <cmath>
#include <map>

#include "interference/fit/data_table.h"
#include "interference/fit/sources.h"

namespace starling {
namespace {

using Groups = std::map<std::pair<std::string, std::string>, std::vector<TierSample>>;

// ElasticFlow's T4 servers hold 4 GPUs, its A100 servers 8.
constexpr std::uint32_t kT4PerServer = 4;
constexpr std::uint32_t kA100PerServer = 8;

// Largest batch of one GPU that Pollux measured; above it gradients are accumulated. ElasticFlow's
// T4 figures are of the same applications.
const std::map<std::string, double> kLargestBatch = {{"bert", 12},        {"cifar10", 1024},
                                                     {"deepspeech2", 80}, {"imagenet", 200},
                                                     {"ncf", 32768},      {"yolov3", 16}};

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
  const auto table = DataTable::read(folder / "pollux" / "placements.csv",
                                     {"application", "placement", "local_bsz", "step_time"});
  if (!table) return table.error();
  Groups groups;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    const Result<double> batch = table.value().number(row, "local_bsz");
    const Result<double> step = table.value().number(row, "step_time");
    if (!batch) return batch.error();
    if (!step) return step.error();
    TierSample sample;
    sample.batch = batch.value();
    sample.gpus = 0;
    const std::string& placement = table.value().text(row, "placement");
    for (const char digit : placement) sample.gpus += static_cast<std::uint32_t>(digit - '0');
    sample.across = placement.size() > 1;
    sample.iteration_s = step.value();
    groups[{"T4", table.value().text(row, "application")}].push_back(sample);
  }
  add_fits("pollux", "iteration time by placement", groups, report);
  return done();
}

Status fit_elasticflow(const std::filesystem::path& folder, FitReport& report) {
  const auto table =
      DataTable::read(folder / "elasticflow" / "scaling.csv",
                      {"gpu", "model", "global_batch_size", "num_gpus", "iterations_per_s"});
  if (!table) return table.error();
  Groups groups;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    const Result<double> batch = table.value().number(row, "global_batch_size");
    const Result<double> gpus = table.value().number(row, "num_gpus");
    const Result<double> speed = table.value().number(row, "iterations_per_s");
    if (!batch) return batch.error();
    if (!gpus) return gpus.error();
    if (!speed) return speed.error();
    if (speed.value() <= 0) continue;  // not measured
    const std::string& gpu = table.value().text(row, "gpu");
    const std::string& model = table.value().text(row, "model");
    TierSample sample;
    sample.gpus = static_cast<std::uint32_t>(gpus.value());
    sample.across = sample.gpus > (gpu == "T4" ? kT4PerServer : kA100PerServer);
    const double share = batch.value() / gpus.value();
    const auto largest = kLargestBatch.find(model);
    if (gpu == "T4" && largest != kLargestBatch.end())
      sample.micro = static_cast<std::uint32_t>(std::ceil(share / largest->second));
    sample.batch = share / sample.micro;
    sample.iteration_s = 1 / speed.value();
    groups[{gpu, model}].push_back(sample);
  }
  add_fits("elasticflow", "iteration time by number of GPUs", groups, report);
  return done();
}

}  // namespace starling
