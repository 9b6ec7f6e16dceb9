// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "interference/learned/corrections.h"

namespace starling {

/// Corrections of log slowdowns, learned from measured speeds: for each victim and relation, one
/// for all others and one for each other. Independent normal beliefs, updated together as a Kalman
/// filter does, which forget: what was seen long ago counts less. At most kMost beliefs; the one
/// longest unused goes. A cumulative sum of surprises tells when what was learned holds no longer;
/// then the belief starts again. Deterministic.
class Residuals final : public Corrections {
 public:
  static constexpr std::size_t kMost = 4096;
  static constexpr double kNoise = 0.05;  ///< deviation of one measured log speed

  [[nodiscard]] double correction(std::span<const Meeting> meetings) const override;
  [[nodiscard]] double variance(std::span<const Meeting> meetings) const override;
  [[nodiscard]] double covariance(std::span<const Meeting> one,
                                  std::span<const Meeting> other) const override;
  bool observe(std::span<const Meeting> meetings, double log_ratio) override;

  [[nodiscard]] bool neutral() const noexcept override { return beliefs_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return beliefs_.size(); }
  [[nodiscard]] std::uint64_t observed() const noexcept override { return observed_; }
  [[nodiscard]] std::uint64_t drifts() const noexcept override { return drifts_; }
  [[nodiscard]] const Meeting& drifted() const noexcept override { return drifted_; }

  [[nodiscard]] std::vector<std::byte> state(std::uint64_t weights) const override;
  [[nodiscard]] Status restore(std::span<const std::byte> state, std::uint64_t weights) override;

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
