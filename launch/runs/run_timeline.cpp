// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/run_timeline.h"

#include <map>

namespace starling {

std::vector<TimePoint> timeline_of(std::span<const JobRow> jobs) {
  struct Change {
    std::int64_t gpus = 0, waiting = 0;
  };
  std::map<double, Change> changes;
  for (const JobRow& job : jobs) {
    const bool started = job.start_s >= 0, ended = job.finish_s >= 0;
    if (!started && !ended) continue;
    ++changes[job.submit_s].waiting;
    --changes[started ? job.start_s : job.finish_s].waiting;
    if (!started) continue;
    changes[job.start_s].gpus += job.gpus;
    if (ended) changes[job.finish_s].gpus -= job.gpus;
  }
  constexpr std::size_t kMost = 10'000;
  const std::size_t step = changes.size() / kMost + 1;
  std::vector<TimePoint> points;
  std::int64_t busy = 0, waiting = 0;
  std::size_t i = 0;
  for (const auto& [at, change] : changes) {
    busy += change.gpus;
    waiting += change.waiting;
    if (i++ % step == 0 || i == changes.size()) {
      // A start may be seen before its submission by a hair; neither count goes below zero.
      points.push_back({at, static_cast<std::uint32_t>(std::max<std::int64_t>(0, busy)),
                        static_cast<std::uint32_t>(std::max<std::int64_t>(0, waiting))});
    }
  }
  return points;
}

}  // namespace starling
