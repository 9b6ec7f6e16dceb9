// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/goodput_sources.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "interference/fit/data_table.h"

namespace starling {
namespace {

// ElasticFlow's T4 servers hold 4 GPUs, its A100 servers 8.
std::uint32_t per_server(const std::string& gpu) { return gpu == "T4" ? 4 : 8; }

// Largest batch of one GPU that Pollux measured; above it gradients are accumulated. ElasticFlow's
// T4 figures are of the same applications.
const std::map<std::string, double> kLargestBatch = {{"bert", 12},        {"cifar10", 1024},
                                                     {"deepspeech2", 80}, {"imagenet", 200},
                                                     {"ncf", 32768},      {"yolov3", 16}};

std::uint32_t accumulated(const std::string& gpu, const std::string& model, double share) {
  const auto largest = kLargestBatch.find(model);
  if (gpu != "T4" || largest == kLargestBatch.end()) return 0;
  return static_cast<std::uint32_t>(std::ceil(share / largest->second)) - 1;
}

// The numbers of some columns of a row; `columns` and the answer have one order.
Result<std::vector<double>> numbers(const DataTable& table, std::size_t row,
                                    std::initializer_list<std::string_view> columns) {
  std::vector<double> out;
  for (const std::string_view column : columns) {
    const Result<double> value = table.number(row, column);
    if (!value) return value.error();
    out.push_back(value.value());
  }
  return out;
}

}  // namespace

Result<std::map<std::string, std::vector<PlacedStep>>> read_pollux_placements(
    const std::filesystem::path& folder) {
  const auto table = DataTable::read(folder / "pollux" / "placements.csv",
                                     {"application", "placement", "local_bsz", "step_time"});
  if (!table) return table.error();
  std::map<std::string, std::vector<PlacedStep>> steps;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    const auto values = numbers(table.value(), row, {"local_bsz", "step_time"});
    if (!values) return values.error();
    const std::string& placement = table.value().text(row, "placement");
    const auto servers = static_cast<std::uint32_t>(placement.size());
    const Tier tier = servers > 1 ? Tier::rack : Tier::server;
    StepSample sample{{values.value()[0], 0, 0, servers, tier}, values.value()[1]};
    for (const char digit : placement)
      sample.shape.replicas += static_cast<std::uint32_t>(digit - '0');

    steps[table.value().text(row, "application")].push_back({placement, sample});
  }
  return steps;
}

Result<std::map<std::string, std::vector<StepSample>>> read_pollux_scalability(
    const std::filesystem::path& folder) {
  const auto table =
      DataTable::read(folder / "pollux" / "scalability.csv",
                      {"application", "num_nodes", "num_replicas", "local_bsz", "step_time"});
  if (!table) return table.error();
  std::map<std::string, std::vector<StepSample>> steps;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    const auto values =
        numbers(table.value(), row, {"local_bsz", "num_replicas", "step_time", "num_nodes"});
    if (!values) return values.error();
    const auto replicas = static_cast<std::uint32_t>(values.value()[1]);
    const auto servers = static_cast<std::uint32_t>(values.value()[3]);
    steps[table.value().text(row, "application")].push_back(
        {{values.value()[0], 0, replicas, servers, Tier::rack}, values.value()[2]});
  }
  return steps;
}

Result<std::map<std::string, NoiseRuns>> read_pollux_noise(const std::filesystem::path& folder) {
  const auto table =
      DataTable::read(folder / "pollux" / "validation.csv.gz",
                      {"application", "batch_size", "progress", "grad_sqr", "grad_var"});
  if (!table) return table.error();
  std::map<std::string, NoiseRuns> runs;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    const auto values =
        numbers(table.value(), row, {"batch_size", "progress", "grad_var", "grad_sqr"});
    if (!values) return values.error();
    const std::vector<double>& v = values.value();
    runs[table.value().text(row, "application")][v[0]].push_back({v[1], v[2], v[3]});
  }
  for (auto& [application, by_batch] : runs) {
    for (auto& [batch, epochs] : by_batch) {
      const auto rises = [](const NoiseSample& a, const NoiseSample& b) { return a.done < b.done; };
      if (epochs.front().done <= 0 ||
          std::ranges::adjacent_find(epochs, std::not_fn(rises)) != epochs.end())
        return Error{Errc::invalid, (folder / "pollux" / "validation.csv.gz").string() +
                                        ": the progress of " + application +
                                        " does not rise from above 0 at one batch size"};
      const double all = epochs.back().done;
      for (NoiseSample& epoch : epochs) epoch.done /= all;
    }
  }
  return runs;
}

Result<ScalingSteps> read_elasticflow_steps(const std::filesystem::path& folder) {
  const auto table =
      DataTable::read(folder / "elasticflow" / "scaling.csv",
                      {"gpu", "model", "global_batch_size", "num_gpus", "iterations_per_s"});
  if (!table) return table.error();
  ScalingSteps steps;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    const auto values =
        numbers(table.value(), row, {"global_batch_size", "num_gpus", "iterations_per_s"});
    if (!values) return values.error();
    const std::vector<double>& v = values.value();
    if (v[2] <= 0) continue;  // not measured
    if (v[0] < 1 || v[1] < 1)
      return Error{Errc::invalid, (folder / "elasticflow" / "scaling.csv").string() + ": row " +
                                      std::to_string(row + 1) + " has no batch or no GPU"};
    const std::string& gpu = table.value().text(row, "gpu");
    const auto gpus = static_cast<std::uint32_t>(v[1]);
    const std::uint32_t servers = (gpus + per_server(gpu) - 1) / per_server(gpu);
    const Tier tier = servers > 1 ? Tier::rack : Tier::server;
    const std::string& model = table.value().text(row, "model");
    const double share = v[0] / v[1];
    const std::uint32_t accumulation = accumulated(gpu, model, share);
    steps[{gpu, model}].push_back(
        {{share / (accumulation + 1), accumulation, gpus, servers, tier}, 1 / v[2]});
  }
  return steps;
}

}  // namespace starling
