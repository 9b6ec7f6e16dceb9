// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "interference/fit/noise_fit.h"
#include "interference/fit/step_fit.h"
#include "interference/goodput/goodput.h"

namespace starling {

/// Rows, and the mean error over them.
struct RowError {
  std::size_t rows = 0;
  double error = 0;

  void add(const RowError& other) noexcept;
};

/// How well step times are met; all errors are mean relative ones.
struct StepErrors {
  RowError placements;   ///< pollux/placements.csv, at all batch sizes
  RowError own;          ///< of those, a GPU's share of a batch that the source trained with
  RowError scale;        ///< pollux/scalability.csv: 6 to 64 GPUs on 6 to 16 servers
  RowError withheld;     ///< each fifth placement, by a fit without it
  RowError paper;        ///< placements by the paper's own form, fitted to them alone
  RowError paper_scale;  ///< scalability.csv by that fit

  void add(const StepErrors& other) noexcept;
};

/// One application of Pollux.
struct FittedGoodput {
  std::string application;  ///< as the source writes it
  BatchLimits limits;
  StepTime time;
  StepErrors errors;
  NoiseScale noise;
  RowError efficiency;  ///< see mean_efficiency_error
};

/// One model of ElasticFlow: step time alone.
struct FittedScaling {
  std::string gpu, model;  ///< as the source writes them
  StepTime time;
  RowError all;
  RowError withheld;  ///< each fifth row, by a fit without it
};

struct GoodputReport {
  std::vector<FittedGoodput> applications;
  std::vector<FittedScaling> scaling;
};

/// Fits pollux/placements.csv, pollux/scalability.csv, pollux/validation.csv.gz and
/// elasticflow/scaling.csv of the published data folder. Takes seconds; the same folder gives the
/// same report. `io` or `invalid` names a file that cannot be read.
[[nodiscard]] Result<GoodputReport> fit_goodput(const std::filesystem::path& data_folder);

/// Tables for people.
[[nodiscard]] std::string to_text(const GoodputReport& report);
/// The committed table interference/goodput/profiles.inc.
[[nodiscard]] std::string to_profiles(const GoodputReport& report);

}  // namespace starling
