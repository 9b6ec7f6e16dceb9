// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "scheduling/policy.h"

namespace starling {

/// Which job may stop which under srtf. Times are in nanoseconds.
struct SrtfRule {
  static constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

  double margin = 0;  ///< of one's own priority those with (1 + margin) times as much left

  /// Time left on the best placement; kUnknown: of a job that does not say how long it takes.
  [[nodiscard]] static std::int64_t left(const JobView& job) {
    if (job.spec->duration <= Duration::zero()) return kUnknown;
    return std::max<std::int64_t>((job.spec->duration - job.served).count(), 0);
  }

  /// A job that wants to stop others.
  struct Preemptor {
    std::int32_t priority;
    std::int64_t left;
    std::int64_t least;  ///< what others of its priority must have left
  };
  [[nodiscard]] Preemptor preemptor(std::int32_t priority, std::int64_t left) const {
    const double least = static_cast<double>(left) * (1 + margin);
    if (least >= 9e18) return {priority, left, std::numeric_limits<std::int64_t>::max()};
    return {priority, left, std::max(static_cast<std::int64_t>(least), left + 1)};
  }
  /// `priority`, `left`: of the one that runs.
  [[nodiscard]] static bool may_stop(const Preemptor& who, std::int32_t priority,
                                     std::int64_t left) {
    if (priority != who.priority) return priority < who.priority;
    // Jobs of unknown length stop no others: two of them would stop each other without end.
    return who.left != kUnknown && left >= who.least;
  }
};

}  // namespace starling
