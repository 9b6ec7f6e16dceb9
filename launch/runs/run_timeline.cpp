// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/run_timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "topology/placement_text.h"

namespace starling {
namespace {

struct Change {
  std::int64_t gpus = 0, waiting = 0;
};
using Changes = std::map<double, Change>;
using Spans = std::vector<std::pair<double, double>>;  // from, until

/// One GPU is in use while any of those that share it is.
void add_union(Spans& spans, Changes& changes) {
  std::sort(spans.begin(), spans.end());
  for (std::size_t i = 0; i < spans.size();) {
    const double from = spans[i].first;
    double until = spans[i].second;
    for (++i; i < spans.size() && spans[i].first <= until; ++i)
      until = std::max(until, spans[i].second);
    ++changes[from].gpus;
    if (until < std::numeric_limits<double>::infinity()) --changes[until].gpus;
  }
}

}  // namespace

std::vector<TimePoint> timeline_of(std::span<const JobRow> jobs) {
  Changes changes;
  std::map<std::uint32_t, Spans> by_gpu;
  for (const JobRow& job : jobs) {
    const bool started = job.start_s >= 0, ended = job.finish_s >= 0;
    if (!started && !ended) continue;
    ++changes[job.submit_s].waiting;
    --changes[started ? job.start_s : job.finish_s].waiting;
    if (!started) continue;
    const double until = ended ? job.finish_s : std::numeric_limits<double>::infinity();
    for (const IndexRange& range : gpu_ranges(job.placement)) {
      for (std::uint32_t gpu = range.first; gpu < range.last; ++gpu)
        by_gpu[gpu].emplace_back(job.start_s, until);
    }
  }
  for (auto& [gpu, spans] : by_gpu) add_union(spans, changes);
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
