// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "scheduling/memory_bytes.h"

namespace starling {

/// The distribution of total service of past jobs, and the Gittins index that follows from it.
/// Remembers the last kWindow totals. Before it has kEnough it knows nothing and every index is 0.
class ServiceHistory {
 public:
  static constexpr std::size_t kWindow = 2048;
  static constexpr std::size_t kEnough = 32;

  /// What one finished job used in all, in any unit: GPU-seconds for index(). Older totals beyond
  /// the window are forgotten.
  void add(double total);
  [[nodiscard]] bool knows() const noexcept { return sorted_.size() >= kEnough; }

  /// P(S - a <= d | S > a) / E[min(S - a, d) | S > a]: chance per GPU-second to finish if it may
  /// use `d` more (Tiresias, NSDI'19). 0 where no past job had more than `attained`.
  [[nodiscard]] double index(double attained, double d) const;
  /// How many past jobs had more than that.
  [[nodiscard]] std::size_t above(double attained) const;
  /// What those that had more still used from there on, at quantile `u` in [0, 1); there must be
  /// some.
  [[nodiscard]] double left(double attained, double u) const;
  /// What half of them still used; 0 where there are none.
  [[nodiscard]] double median_left(double attained) const;

  /// For Policy::save().
  void save(MemoryWriter& out) const;
  /// Reads what save() wrote; what cannot be fails `in`.
  void restore(MemoryReader& in);

 private:
  std::vector<double> recent_;  // ring, in order of arrival
  std::size_t next_ = 0;
  std::vector<double> sorted_;
  mutable std::vector<double> sums_;  // sums_[i]: of the first i of sorted_; empty: to be made anew
};

}  // namespace starling
