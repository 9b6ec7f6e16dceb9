// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace starling {

/// Where two jobs meet.
enum class Relation : std::uint8_t { gpu = 1, link = 2, host = 3 };
[[nodiscard]] const char* to_string(Relation relation) noexcept;

/// One neighbour's part in a placement.
struct Meeting {
  std::uint16_t victim = 0, other = 0;  ///< model indices
  Relation relation = Relation::gpu;
  std::uint8_t kind = 0;   ///< of the GPU
  double deviation = 0.1;  ///< of the log slowdown, before anything was observed
  double predicted = 0;    ///< on a GPU: the log slowdown that the network says; else 0
};

/// Corrections of predicted log speeds, learned from measured ones. Deterministic.
class Corrections {
 public:
  virtual ~Corrections() = default;
  /// To be added to the log of the predicted speed.
  [[nodiscard]] virtual double correction(std::span<const Meeting> meetings) const = 0;
  /// Variance of the log speed that is left.
  [[nodiscard]] virtual double variance(std::span<const Meeting> meetings) const = 0;
  /// Covariance of what is left of two: how much measuring one would tell of the other.
  [[nodiscard]] virtual double covariance(std::span<const Meeting> one,
                                          std::span<const Meeting> other) const = 0;
  /// The log of measured over predicted speed, without the correction. Tells whether it is a drift.
  virtual bool observe(std::span<const Meeting> meetings, double log_ratio) = 0;

  /// Nothing is corrected anywhere, and every variance is what the meetings say.
  [[nodiscard]] virtual bool neutral() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t observed() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t drifts() const noexcept = 0;
  /// Grows when what was learned is learned anew, so that all answers may be others at once.
  [[nodiscard]] virtual std::uint64_t relearned() const noexcept { return 0; }
  /// The meeting that drifted last.
  [[nodiscard]] virtual const Meeting& drifted() const noexcept = 0;

  /// All of it as bytes, which fit only the weights with that hash.
  [[nodiscard]] virtual std::vector<std::byte> state(std::uint64_t weights) const = 0;
  /// `invalid` for bytes that are truncated, altered, or of other weights; then nothing has
  /// changed.
  [[nodiscard]] virtual Status restore(std::span<const std::byte> state, std::uint64_t weights) = 0;
};

}  // namespace starling
