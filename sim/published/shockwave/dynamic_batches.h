// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace starling {

/// A model as Shockwave's simulator knows it.
struct ShockwaveModel {
  std::string_view name;
  std::uint32_t samples;     ///< of an epoch
  std::uint32_t most_batch;  ///< that fits its GPU
};
/// Nothing if it has none of that name.
[[nodiscard]] const ShockwaveModel* shockwave_model(std::string_view name) noexcept;

/// How a job changes its batch while it trains. fixed: never. accordion: the first one in critical
/// epochs, else the largest. gns: doubles at epochs that were tabulated from gradient noise.
enum class BatchMode : std::uint8_t { fixed, accordion, gns };

/// The batches of one job; rules as in uw-mad-dash/shockwave (MIT), scheduler/scheduler.py and
/// utils.py, whose tables of critical epochs and of epochs to double at stand in the source.
class DynamicBatches {
 public:
  DynamicBatches(const ShockwaveModel& model, BatchMode mode, std::uint32_t first,
                 std::uint32_t gpus)
      : model_(&model), mode_(mode), first_(first), gpus_(gpus) {}

  /// What the job goes to after `epochs` with `batch`; nothing if it keeps that.
  [[nodiscard]] std::optional<std::uint32_t> next(std::uint32_t batch, std::int64_t epochs) const;
  /// The batch of each epoch as the job's profile has it, which policies plan with. It is not what
  /// next() does: accordion keeps the first batch for 30 % of the job and calls more epochs of
  /// Recommendation critical, and gns falls back to the first batch in the last epoch.
  [[nodiscard]] std::vector<std::uint32_t> profile(std::int64_t epochs) const;
  /// Every batch that next() may lead to, and the first.
  [[nodiscard]] std::vector<std::uint32_t> all() const;

  [[nodiscard]] const ShockwaveModel& model() const noexcept { return *model_; }
  [[nodiscard]] std::uint32_t first() const noexcept { return first_; }
  [[nodiscard]] std::int64_t steps_per_epoch(std::uint32_t batch) const noexcept {
    return (model_->samples + batch - 1) / batch;
  }

 private:
  [[nodiscard]] bool critical(std::int64_t epoch) const;
  [[nodiscard]] std::uint32_t tabulated(std::int64_t epoch) const;

  const ShockwaveModel* model_;
  BatchMode mode_;
  std::uint32_t first_, gpus_;
};

}  // namespace starling
