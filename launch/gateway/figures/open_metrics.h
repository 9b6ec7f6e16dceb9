// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace starling {

/// Writes figures as Prometheus reads them: OpenMetrics 1.0
/// (https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md), or the
/// text format 0.0.4 from before. They differ in how counters are named in their heading, and in
/// the end.
class OpenMetrics {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;
  enum class Kind { gauge, counter, histogram };

  explicit OpenMetrics(bool open) : open_(open) {}

  /// Begins a family; its samples follow. `name` of a counter is without "_total".
  void family(const std::string& name, Kind kind, const std::string& help);
  void sample(const Labels& labels, double value);
  /// One with a suffix of its own, as histograms have.
  void sample(const std::string& suffix, const Labels& labels, double value);
  /// A family of one sample.
  void single(const std::string& name, Kind kind, const std::string& help, double value);
  /// The whole.
  [[nodiscard]] std::string finish();

 private:
  bool open_;
  std::string name_;
  Kind kind_ = Kind::gauge;
  std::string text_;
};

}  // namespace starling
