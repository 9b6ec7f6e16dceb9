// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace starling {

/// GPUs that a job may have at a time, and the work per second that it does with them, above 0.
struct PlannedSize {
  double gpus = 1, speed = 1;
};

/// What is to be planned of a job. Seconds are from now on.
struct PlannedWork {
  std::span<const PlannedSize> sizes;  ///< by GPUs, ascending
  double left = 0;                     ///< work, above 0
  double due_s = std::numeric_limits<double>::infinity();
};

/// GPUs of a job over time.
struct GpuPlan {
  struct Span {
    double from_s = 0, to_s = 0, gpus = 0;
  };
  std::vector<Span> spans;           ///< in order, of whole slots; between them it waits
  std::optional<std::size_t> first;  ///< size that it has now; nothing: it waits
  std::size_t level = 0;             ///< the size above which it has none, but for a first slot
  double end_s = 0;
  double gpu_s = 0;  ///< GPU-seconds until then
};

/// How many GPUs of some, all alike, are not spoken for at any time from now on. With slots of so
/// many seconds, from now on, GPUs are free for other jobs from the next slot on; 0: at once.
class GpuCalendar {
 public:
  explicit GpuCalendar(double gpus, double slot_s = 0) : slot_s_(slot_s), free_{{0, gpus}} {}

  /// The job's plan where it has at all times the largest of its sizes up to `level` for which
  /// there is room, and up to `first` in the slot that begins now; until it is done. Nothing: not
  /// before it is due.
  [[nodiscard]] std::optional<GpuPlan> fill(const PlannedWork& job, std::size_t level,
                                            std::size_t first) const;
  /// ElasticFlow's progressive filling (ASPLOS 2023, algorithm 1): the plan of the smallest level,
  /// from `lowest` on, by which the job is done before it is due: its minimum satisfactory share.
  /// Nothing: by none.
  [[nodiscard]] std::optional<GpuPlan> least_share(const PlannedWork& job,
                                                   std::size_t lowest = 0) const;

  /// There is room for it.
  void take(const GpuPlan& plan) { add(plan, -1); }
  /// It was taken.
  void give_back(const GpuPlan& plan) { add(plan, 1); }
  [[nodiscard]] double free_now() const noexcept { return free_.front().gpus; }

 private:
  struct Point {
    double at_s = 0, gpus = 0;  // free from then until the next point
  };
  void add(const GpuPlan& plan, double sign);
  std::size_t point_at(double at_s);

  double slot_s_;
  std::vector<Point> free_;
};

}  // namespace starling
