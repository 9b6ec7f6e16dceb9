// SPDX-License-Identifier: Apache-2.0
#include "sim/published/pollux/application.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "interference/fit/data_table.h"
#include "sim/published/inputs.h"

namespace starling {
namespace {

// Memory would hold 16; the simulator stops at 8.
constexpr std::uint32_t kYoloMostLocal = 8;

}  // namespace

PolluxApplication::PolluxApplication(std::string name, StepTables steps, Validation validation)
    : name_(std::move(name)), steps_(std::move(steps)), validation_(std::move(validation)) {
  STARLING_CHECK(!validation_.empty());
  epochs_ = std::numeric_limits<std::uint32_t>::max();
  for (const auto& [batch, rows] : validation_)
    epochs_ = std::min(epochs_, static_cast<std::uint32_t>(rows.size()));
  limits_.own = validation_.begin()->first;
  limits_.largest = validation_.rbegin()->first;
  limits_.least_local = steps_.least_local();
  limits_.most_local = name_ == "yolov3" ? kYoloMostLocal : steps_.most_local();
  for (std::uint32_t epoch = 0; epoch < epochs_; ++epoch) {
    double end = std::numeric_limits<double>::infinity();
    for (const auto& [batch, rows] : validation_) end = std::min(end, rows[epoch].progress);
    ends_.push_back(end);
  }
}

template <class Value>
double PolluxApplication::between(double batch, std::uint32_t epoch, Value&& value) const {
  const auto high = std::find_if(validation_.begin(), validation_.end(),
                                 [&](const auto& entry) { return entry.first >= batch; });
  STARLING_CHECK(high != validation_.end());
  const double above = value(high->second[epoch]);
  if (high->first == batch || high == validation_.begin()) return above;
  const auto low = std::prev(high);
  const double below = value(low->second[epoch]);
  const double from = low->first;
  const double to = high->first;
  return ((batch - from) * above + (to - batch) * below) / (to - from);
}

GradientStats PolluxApplication::gradient(double batch, std::uint32_t epoch) const {
  return {between(batch, epoch, [](const EpochRow& row) { return row.gradient.square; }),
          between(batch, epoch, [](const EpochRow& row) { return row.gradient.variance; })};
}

double PolluxApplication::iterations(double batch, std::uint32_t epoch) const {
  return between(batch, epoch, [](const EpochRow& row) { return row.iteration; });
}

Result<std::map<std::string, PolluxApplication>> read_pollux_applications(
    const std::filesystem::path& data) {
  auto steps = read_step_tables(data);
  if (!steps) return steps.error();
  const auto file = published_file(data, "pollux/validation.csv.gz");
  if (!file) return file.error();
  const auto read = DataTable::read(
      file.value(), {"application", "batch_size", "progress", "iteration", "grad_sqr", "grad_var"});
  if (!read) return read.error();
  const DataTable& table = read.value();
  std::map<std::string, PolluxApplication::Validation> validation;
  for (std::size_t row = 0; row < table.size(); ++row) {
    std::vector<double> values;
    for (const char* column : {"batch_size", "progress", "iteration", "grad_sqr", "grad_var"}) {
      const auto value = table.number(row, column);
      if (!value) return value.error();
      values.push_back(value.value());
    }
    if (!(values[0] >= 1 && values[0] < 1e7))
      return {Errc::invalid, file.value().string() + ": a batch is not in 1 to 10,000,000"};
    validation[table.text(row, "application")][static_cast<std::uint32_t>(values[0])].push_back(
        {values[1], values[2], {values[3], values[4]}});
  }
  std::map<std::string, PolluxApplication> out;
  for (auto& [name, rows] : validation) {
    const auto known = steps.value().find(name);
    if (known == steps.value().end() || known->second.least_local() == 0)
      return {Errc::invalid, file.value().string() + ": there are no step times of " + name};
    out.emplace(name, PolluxApplication(name, std::move(known->second), std::move(rows)));
  }
  return out;
}

}  // namespace starling
