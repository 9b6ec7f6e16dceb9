// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
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
};

/// Corrections of log slowdowns, learned from measured speeds: for each victim and relation, one
/// for all others and one for each other. Independent normal beliefs, updated together as a Kalman
/// filter does, which forget: what was seen long ago counts less. At most kMost beliefs; the one
/// longest unused goes. A cumulative sum of surprises tells when what was learned holds no longer;
/// then the belief starts again. Deterministic.
class Residuals {
 public:
  static constexpr std::size_t kMost = 4096;

  /// To be added to the log of the predicted speed.
  [[nodiscard]] double correction(std::span<const Meeting> meetings) const;
  /// Variance of the log speed that is left.
  [[nodiscard]] double variance(std::span<const Meeting> meetings) const;
  /// The log of measured over predicted speed, without the correction. Tells whether it is a drift.
  bool observe(std::span<const Meeting> meetings, double log_ratio);

  [[nodiscard]] bool empty() const noexcept { return beliefs_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return beliefs_.size(); }
  [[nodiscard]] std::uint64_t observed() const noexcept { return observed_; }
  [[nodiscard]] std::uint64_t drifts() const noexcept { return drifts_; }
  /// The meeting that drifted last.
  [[nodiscard]] const Meeting& drifted() const noexcept { return drifted_; }

  /// All of it as bytes, which fit only the weights with that hash.
  [[nodiscard]] std::vector<std::byte> state(std::uint64_t weights) const;
  /// `invalid` for bytes that are truncated, altered, or of other weights.
  [[nodiscard]] Status restore(std::span<const std::byte> state, std::uint64_t weights);

 private:
  struct Belief {
    double mean = 0, variance = 0;
    double up = 0, down = 0;  // cumulative sums
    std::uint64_t used = 0;   // the observation that last touched it
    std::uint32_t count = 0;
  };
  struct Part {
    std::uint64_t key = 0;
    double prior = 0;
    double times = 0;
  };
  static std::vector<Part> parts_of(std::span<const Meeting> meetings);
  Belief& belief(const Part& part);
  void make_room();

  std::map<std::uint64_t, Belief> beliefs_;
  std::uint64_t observed_ = 0, drifts_ = 0;
  Meeting drifted_;
};

}  // namespace starling
