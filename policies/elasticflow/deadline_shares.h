// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "policies/elasticflow/gpu_calendar.h"

namespace starling {

/// Who of those without a promise has first what the others leave.
enum class Unpromised : std::uint8_t {
  by_deadline,  ///< in the order of the jobs
  least_left    ///< in each priority who needs the least GPU time on its smallest size
};

/// A job among which GPUs are divided, the most urgent priority and then the earliest deadline
/// first.
struct DeadlineJob {
  std::vector<PlannedSize> sizes;  ///< by GPUs, ascending
  std::int32_t priority = 0;       ///< the order of the jobs is by it first
  double left = 0;                 ///< work, above 0
  /// From now on. Without one it has what those with deadlines leave.
  double due_s = std::numeric_limits<double>::infinity();
  bool admitted = false;              ///< it was promised its deadline
  double promised_gpus = 0;           ///< of an admitted job: its least share in the last slot
  std::optional<std::uint64_t> asks;  ///< it asks for that now: in which order, the lowest first
};

/// What is given to a job now, and why.
struct DeadlineShare {
  std::optional<std::size_t> size;   ///< of its sizes; nothing: it waits
  std::optional<std::size_t> least;  ///< the level of its minimum satisfactory share
  bool admitted = false;
  double end_s = 0;  ///< of an admitted job: as planned
};

/// ElasticFlow's division (ASPLOS 2023, sections 4.1 and 4.2) of `gpus`, all alike, for the next
/// `slot_s` seconds, above 0; it is made anew after them. Admission: one that asks is admitted if,
/// with it, all that are admitted get their minimum satisfactory shares by the order of `jobs`
/// (GpuCalendar::least_share). Where that fails for those who were admitted before, since a smaller
/// share for longer is now enough for one and stands in the way of another, their shares are no
/// smaller than they were; as every job has had these at least, that works. One that cannot be done
/// in time all the same is admitted no longer. Allocation: the admitted get these shares; one
/// without a GPU then starts on its smallest size, the admitted first, in the order of `jobs`,
/// then the others; what is left goes, size by size, to whose GPU time to its end grows least per
/// further GPU, with these GPUs for this slot.
[[nodiscard]] std::vector<DeadlineShare> divide_by_deadlines(const std::vector<DeadlineJob>& jobs,
                                                             double gpus, double slot_s,
                                                             Unpromised unpromised);

}  // namespace starling
