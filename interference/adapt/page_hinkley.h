// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace starling {

/// Page's test (E. S. Page, Continuous inspection schemes, Biometrika 41, 1954) of the size of
/// surprises: the cumulative sum of what each is above its mean while the model holds, less a
/// slack, never below 0. An alarm says that the model is wrong by more than its intervals, whatever
/// the sign, since the sum last left 0, which is the estimate of D. V. Hinkley (Inference about the
/// change-point from cumulative sum tests, Biometrika 58, 1971).
class PageHinkley {
 public:
  static constexpr double kMean = 0.7979;  ///< of the size of a standard normal surprise
  static constexpr double kSlack = 0.35, kMost = 4;
  static constexpr double kAlarm = 8;

  /// `surprise`: measured less expected, in deviations. True: alarm. The sum begins again at the
  /// next observation; until then since() tells of the change.
  bool observe(double surprise) noexcept;
  /// Observations for which the sum has been above 0.
  [[nodiscard]] std::uint32_t since() const noexcept { return since_; }
  [[nodiscard]] double sum() const noexcept { return sum_; }
  void restore(double sum, std::uint32_t since) noexcept { sum_ = sum, since_ = since; }

 private:
  double sum_ = 0;
  std::uint32_t since_ = 0;
};

}  // namespace starling
