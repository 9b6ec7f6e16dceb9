// SPDX-License-Identifier: Apache-2.0
#include "sim/arrivals.h"

#include <algorithm>

namespace starling {
namespace {

/// GPUs in use times seconds between two times. The timeline has a point per change.
double busy_between(const std::vector<TimePoint>& timeline, double from, double until) {
  double busy = 0;
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    const double begins = std::max(from, timeline[i].at_s);
    const double ends = i + 1 < timeline.size() ? std::min(until, timeline[i + 1].at_s) : until;
    if (ends > begins) busy += timeline[i].busy_gpus * (ends - begins);
  }
  return busy;
}

}  // namespace

ArrivalFigures arrival_figures(const RunResult& run) {
  ArrivalFigures f;
  if (run.jobs.empty()) return f;
  const auto by_submit = [](const JobRow& a, const JobRow& b) { return a.submit_s < b.submit_s; };
  const auto [first, last] = std::minmax_element(run.jobs.begin(), run.jobs.end(), by_submit);
  double ended_s = first->submit_s;
  for (const JobRow& job : run.jobs) ended_s = std::max(ended_s, job.finish_s);
  f.arrivals_s = last->submit_s - first->submit_s;
  f.short_for_its_load = ended_s - first->submit_s > 1.5 * f.arrivals_s;
  if (run.gpus > 0 && f.arrivals_s > 0)
    f.gpu_utilization =
        busy_between(run.timeline, first->submit_s, last->submit_s) / (run.gpus * f.arrivals_s);
  return f;
}

}  // namespace starling
