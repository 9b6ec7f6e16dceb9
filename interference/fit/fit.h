// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "interference/fit/pair_fit.h"
#include "interference/fit/tier_fit.h"

namespace starling {

/// The constants of one application on the machines of one source.
struct FittedModel {
  std::string source;       ///< pollux, elasticflow or gavel
  std::string gpu;          ///< as the source writes it
  std::string application;  ///< as the source writes it
  TierConstants constants;
  std::size_t rows = 0;
  std::size_t noisy = 0;  ///< rows that contradict each other; left out of `error` and of the fit
  double error = 0;       ///< mean relative error: iteration times, or for gavel the ratios
  double error_all = 0;   ///< the same with the noisy rows
};

/// What a source is met to, over all its applications.
struct SourceError {
  std::string source;
  std::string measure;
  std::size_t rows = 0;
  std::size_t noisy = 0;
  double error = 0;      ///< without the noisy rows
  double error_all = 0;  ///< with them
  double target = 0;     ///< for `error`
};

/// What a job keeps of its speed beside others on one GPU and leaves to them; see
/// interference/fit/pair_fit.h.
struct SharingModel {
  std::string gpu;          ///< k80, p100, v100; empty: any
  std::string application;  ///< catalogue name; empty: any without figures of its own
  PairFigures figures;
};

struct FitReport {
  std::vector<FittedModel> models;
  std::vector<SharingModel> sharing;
  std::vector<SourceError> sources;
  std::vector<std::string> noise;  ///< rows called noisy, and why
};

/// Fits everything that the published data folder has: pollux/placements.csv,
/// elasticflow/scaling.csv, gavel/isolated.csv, gavel/colocated.csv, lucid/colocate.csv. Takes
/// seconds; the same folder gives the same report. `io` or `invalid` names a file that cannot be
/// read.
[[nodiscard]] Result<FitReport> fit_all(const std::filesystem::path& data_folder);

/// Tables for people.
[[nodiscard]] std::string to_text(const FitReport& report);
/// The committed table interference/fitted.inc: of the models whose machines' links are known.
[[nodiscard]] std::string to_constants(const FitReport& report);
/// The committed table interference/sharing.inc.
[[nodiscard]] std::string to_sharing_table(const FitReport& report);
/// {"sources": [...], "models": [...], "sharing": [...], "noise": [...]}
[[nodiscard]] std::string to_json(const FitReport& report);

}  // namespace starling
