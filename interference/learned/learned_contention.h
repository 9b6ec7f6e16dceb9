// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interference/contention.h"
#include "interference/learned/features.h"
#include "interference/learned/interference_net.h"

namespace starling {

/// What a trained model says of jobs that share a GPU or a server's cores. Slowdowns by others
/// multiply, so their order does not matter, none gives 1, and one more never helps. On a GPU type
/// that was measured in no pair a job is taken to slow as on a V100, with a wider interval.
///
/// Answers for pairs of catalogue models are kept, so asking again costs a look-up; that memory is
/// bounded by the catalogue. One thread at a time.
class LearnedContention final : public Contention {
 public:
  /// Intervals of a GPU type that was measured in no pair are as many times as wide.
  static constexpr double kNeverMeasured = 1.5;

  /// The net must have the part `gpu`.
  explicit LearnedContention(InterferenceNet net);

  [[nodiscard]] double on_gpu(const ModelProfile& own, std::span<const ModelProfile* const> others,
                              GpuKind kind) const noexcept override;
  [[nodiscard]] double on_host(const ModelProfile& own, double ratio) const noexcept override;

  /// Of one other on the GPU: mean log slowdown, and its standard deviation as the calibrated
  /// interval has it.
  struct Pair {
    float log_slowdown = 0, deviation = 0;
  };
  [[nodiscard]] Pair pair(const ModelProfile& own, const ModelProfile& other,
                          GpuKind kind) const noexcept;

  [[nodiscard]] const InterferenceNet& net() const noexcept { return net_; }
  /// Catalogue models and Gavel's types, by one index.
  [[nodiscard]] static std::size_t index(const ModelProfile& model) noexcept;
  [[nodiscard]] static std::size_t models() noexcept;
  /// gpu_profile() of each, by that index.
  [[nodiscard]] static std::vector<std::array<float, kGpuProfile>> profiles();
  /// GPU kinds that have pairs of their own in the network's data: a bit each, by GpuKind.
  [[nodiscard]] static std::uint32_t trained_kinds() noexcept;

 private:
  [[nodiscard]] Pair compute(std::size_t own, std::size_t other, std::size_t kind) const noexcept;

  InterferenceNet net_;
  std::vector<std::vector<float>> victims_, aggressors_;  // rows by kind and index
  std::vector<bool> known_;                               // by index
  mutable std::vector<Pair> pairs_;                       // deviation < 0: not asked yet
};

}  // namespace starling
