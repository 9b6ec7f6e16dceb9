// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/run/run_result.h"

namespace starling {

/// GPUs in use and jobs waiting over time, a point per instant of change. Past `limit` points every
/// other one is dropped and from then on only every second, fourth, ... is kept; the last is always
/// exact.
class Timeline {
 public:
  explicit Timeline(std::size_t limit = 10'000) : limit_(limit) {}

  void note(double at_s, std::uint32_t busy_gpus, std::uint32_t waiting);
  [[nodiscard]] std::vector<TimePoint> points() const;

 private:
  void keep(const TimePoint& point);

  std::size_t limit_;
  std::vector<TimePoint> kept_;
  TimePoint last_{-1, 0, 0};
  std::uint64_t seen_ = 0, stride_ = 1;
};

}  // namespace starling
