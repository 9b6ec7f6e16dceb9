#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "nets/weights.h"

namespace starling {

struct SpeedTrainingOptions {
  std::uint32_t samples = 20'000;  ///< one in five is kept for validation; 100 to 10 million
  std::uint64_t seed = 1;
  std::uint32_t hidden = 48;  ///< width of both hidden layers
  std::uint32_t epochs = 40;
  std::uint32_t batch = 128;
  double learning_rate = 3e-3;  ///< at first; falls to a hundredth along a half cosine
  std::function<void(std::uint32_t epoch, double loss)> progress;
};

/// Errors are of relative speed, which lies in (0, 1].
struct SpeedTraining {
  Weights weights;
  std::uint32_t train_rows = 0, validation_rows = 0;
  double train_mae = 0, validation_mae = 0, validation_rmse = 0;
  double baseline_mae = 0;  ///< of always answering the mean, on the validation rows
};

/// Fits a small network to the analytic speed model's answers on random placements. One thread;
/// same options, same weights. Validation rows come from other data centres. `invalid`: an option
/// out of range.
[[nodiscard]] Result<SpeedTraining> train_speed(const SpeedTrainingOptions& options);

}  // namespace starling
