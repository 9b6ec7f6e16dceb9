// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nets/weights.h"

namespace starling {

struct InterferenceTrainOptions {
  std::filesystem::path data;  ///< the published data folder; of `profile`, the table
  /// open: gavel, deepshare and synergy; lucid: not to be passed on; profile: a table of
  /// 'starling profile', whose workloads are known by name alone.
  std::string set = "open";
  std::uint32_t folds = 5;    ///< 2 to 20
  std::uint32_t members = 6;  ///< 2 to 16
  std::uint64_t seed = 1;
  std::string date;   ///< of the notes
  bool check = true;  ///< false: no cross-validation; intervals are then a guess
  /// How far it is, and with what.
  std::function<void(double part, const std::string& what)> progress;
};

/// Errors on rows that training did not see. Yardsticks are the mean errors of two that know the
/// same rows: one always answers their mean, one adds to it what each type is worth as victim and
/// as neighbour.
struct HeldOutError {
  std::string source, set, split;
  std::uint64_t rows = 0;
  double mae = 0, rmse = 0, coverage90 = 0, mean = 0;
  double additive = 0;
  double sd = 0;  ///< standard deviation of the mean absolute error over the folds
};

/// Wrong answers to "is this share worth it" for pairs that training did not see, by the network
/// and by the two yardsticks.
struct HeldOutWorth {
  std::string split;
  double gain = 0;  ///< worth it: both speeds together are above 1 + gain
  std::uint64_t pairs = 0, wrong = 0, mean_wrong = 0, additive_wrong = 0;
};

struct InterferenceTraining {
  Weights weights;
  std::vector<HeldOutError> errors;
  std::vector<HeldOutWorth> worth;  ///< of shared GPUs
  double feasibility_auc = 0;
};

/// Chooses intervals by cross-validation, then trains on every row. One thread; same options and
/// data, same weights. `invalid` or `io` names an option or file.
[[nodiscard]] Result<InterferenceTraining> train_interference(
    const InterferenceTrainOptions& options);

/// Tables for people, and JSON.
[[nodiscard]] std::string to_text(const InterferenceTraining& training);
[[nodiscard]] std::string to_json(const InterferenceTraining& training);

}  // namespace starling
