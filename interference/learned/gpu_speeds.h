// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace starling {

/// How fast each GPU is in units of the fastest of its type, learned from gangs whose speed is
/// known but for that: a gang goes as its slowest GPU. Of each GPU a normal belief of its log
/// speed, which forgets. A gang that was faster than believed clears all its GPUs of being slower
/// than it was; of one that was slower each is blamed as much as its belief is uncertain, so those
/// that were cleared elsewhere are blamed less. Bounded: in [Server::kSlowestGpu, 1], and one wild
/// measurement moves a belief by kMostSurprise deviations at most. Deterministic.
class GpuSpeeds {
 public:
  static constexpr double kPrior = 0.1;       ///< deviation of a log speed that was not measured
  static constexpr double kNoise = 0.05;      ///< of one measured log speed
  static constexpr double kMostSurprise = 5;  ///< deviations
  static constexpr double kIgnored = 0.05;  ///< of a log speed; less, or less than its deviation: 0
  static constexpr std::uint32_t kMostGpus = 1U << 20U;

  /// The log speed of the slowest of them, at most 0. Allocates nothing.
  [[nodiscard]] double slowest(std::span<const GpuId> gpus) const noexcept;
  /// The log of the measured speed of a gang on `gpus` over what it were on the fastest of the
  /// type.
  void observe(std::span<const GpuId> gpus, double log_ratio);

  /// No GPU is believed to be slow, nor known not to be.
  [[nodiscard]] bool empty() const noexcept { return known_ == 0; }

  /// All of it as bytes.
  [[nodiscard]] std::vector<std::byte> state() const;
  /// `invalid` for bytes that are truncated, altered or of more than `gpus` GPUs; then nothing has
  /// changed.
  [[nodiscard]] Status restore(std::span<const std::byte> state, std::uint32_t gpus);

 private:
  [[nodiscard]] double believed(std::span<const GpuId> gpus) const noexcept;

  struct Belief {
    double mean = 0;  ///< of the log speed
    double variance = kPrior * kPrior;
    bool known = false;
  };
  std::vector<Belief> beliefs_;  // by GPU, as far as one was observed
  std::uint32_t known_ = 0;
};

}  // namespace starling
