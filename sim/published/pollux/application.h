// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "interference/goodput/goodput.h"
#include "sim/published/pollux/step_tables.h"

namespace starling {

/// Square and variance of a gradient.
struct GradientStats {
  double square = 0, variance = 0;
};

/// One of the six trainings that Pollux measured: how long its steps take, how far each brings it,
/// and when it is done. Progress is counted in steps at the smallest batch.
class PolluxApplication {
 public:
  /// What one epoch measured at one batch size.
  struct EpochRow {
    double progress = 0;   ///< at its end
    double iteration = 0;  ///< steps until then
    GradientStats gradient;
  };
  /// By batch size, each as many rows as the shortest has.
  using Validation = std::map<std::uint32_t, std::vector<EpochRow>>;
  PolluxApplication(std::string name, StepTables steps, Validation validation);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const BatchLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] std::uint32_t epochs() const noexcept { return epochs_; }
  [[nodiscard]] const StepTables& steps() const noexcept { return steps_; }
  /// At which an epoch, from 0, is over.
  [[nodiscard]] double epoch_end(std::uint32_t epoch) const { return ends_[epoch]; }
  /// During an epoch, of a batch within the limits, linear between the measured ones.
  [[nodiscard]] GradientStats gradient(double batch, std::uint32_t epoch) const;
  /// Steps at such a batch until an epoch is over.
  [[nodiscard]] double iterations(double batch, std::uint32_t epoch) const;

 private:
  template <class Value>
  [[nodiscard]] double between(double batch, std::uint32_t epoch, Value&& value) const;

  std::string name_;
  StepTables steps_;
  Validation validation_;
  BatchLimits limits_;
  std::uint32_t epochs_ = 0;
  std::vector<double> ends_;
};

/// By name, of pollux/ and conformance/ in the published data folder. `not_found` names a file that
/// is missing, `invalid` what is wrong in one.
[[nodiscard]] Result<std::map<std::string, PolluxApplication>> read_pollux_applications(
    const std::filesystem::path& data);

}  // namespace starling
