// SPDX-License-Identifier: Apache-2.0
#include "interference/train/host_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "interference/fit/data_table.h"
#include "interference/fit/nelder_mead.h"
#include "interference/train/cross_validate.h"

namespace starling {
namespace {

constexpr std::uint32_t kFolds = 5;

struct Sample {
  double cpus = 0, memory = 0, relative = 0;
  std::uint32_t fold = 0;
};

// x: log CPUs, log slope, log memory, log slope, log of the speed with plenty.
double relative_of(const std::vector<double>& x, double c, double m) {
  const double cpu = std::exp(x[1]) * std::max(0.0, x[0] - std::log(c));
  const double memory = std::exp(x[3]) * std::max(0.0, x[2] - std::log(m));
  return std::exp(x[4] - cpu - memory);
}

/// `left_out` >= 0: without that fold.
std::vector<double> fit(const std::vector<Sample>& samples, std::int64_t left_out) {
  const auto loss = [&](const std::vector<double>& x) {
    double sum = 0;
    for (const Sample& s : samples) {
      if (s.fold != left_out) sum += std::abs(relative_of(x, s.cpus, s.memory) - s.relative);
    }
    // Where the curve says nothing: one for one, and no need above what was measured.
    return sum + 0.01 * x[4] * x[4] + 0.01 * (x[1] * x[1] + (x[3] + 1) * (x[3] + 1)) +
           0.001 * x[0] * x[0] + std::max(0.0, x[2] - std::log(300.0)) +
           std::max(0.0, x[0] - std::log(24.0));
  };
  Minimum best;
  best.value = 1e9;
  for (const double cpus : {1.0, 3.0, 8.0}) {
    const Minimum found =
        minimize(loss, {std::log(cpus), 0, std::log(60.0), -1, std::log(cpus / 3)}, 0.5, 2000, 3);
    if (found.value < best.value) best = found;
  }
  return best.at;
}

HostSensitivity sensitivity(const std::string& model, const std::vector<double>& x) {
  return {model, std::exp(x[0]), std::exp(x[1]), std::exp(x[2]), std::exp(x[3])};
}

double middle(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

double HostSensitivity::relative(double c, double m) const {
  return relative_of(
      {std::log(cpus), std::log(cpu_slope), std::log(memory_gb), std::log(memory_slope), 0}, c, m);
}

Result<HostFit> fit_host(const std::filesystem::path& file, std::uint64_t seed) {
  const auto read =
      DataTable::read(file, {"model", "cpus_per_gpu", "mem_gb_per_gpu", "relative_throughput"});
  if (!read) return read.error();
  const DataTable& table = read.value();
  const auto folds = random_folds(static_cast<std::uint32_t>(table.size()), kFolds, seed);
  std::map<std::string, std::vector<Sample>> by_model;
  HostFit out;
  double mean = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto cpus = table.number(row, "cpus_per_gpu");
    const auto memory = table.number(row, "mem_gb_per_gpu");
    const auto speed = table.number(row, "relative_throughput");
    if (!cpus) return cpus.error();
    if (!memory) return memory.error();
    if (!speed) return speed.error();
    by_model[table.text(row, "model")].push_back(
        {cpus.value(), memory.value(), speed.value(), folds[row]});
    mean += speed.value();
    ++out.rows;
  }
  mean /= out.rows;
  std::vector<double> values[4];
  for (const auto& [model, samples] : by_model) {
    const HostSensitivity all = sensitivity(model, fit(samples, -1));
    out.models.push_back(all);
    values[0].push_back(all.cpus);
    values[1].push_back(all.cpu_slope);
    values[2].push_back(all.memory_gb);
    values[3].push_back(all.memory_slope);
    for (std::uint32_t fold = 0; fold < kFolds; ++fold) {
      const std::vector<double> x = fit(samples, fold);
      for (const Sample& s : samples) {
        if (s.fold != fold) continue;
        out.mae += std::abs(relative_of(x, s.cpus, s.memory) - s.relative) / out.rows;
        out.mean_mae += std::abs(mean - s.relative) / out.rows;
      }
    }
  }
  out.other = {"", middle(values[0]), middle(values[1]), middle(values[2]), middle(values[3])};
  return out;
}

}  // namespace starling
