// SPDX-License-Identifier: Apache-2.0
#include "sim/run/run_result.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>

namespace starling {
namespace {

/// Nearest rank: the smallest value that at least `share` of all do not exceed.
double percentile(const std::vector<double>& ascending, double share) {
  if (ascending.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(ascending.size()));
  const auto index = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  return ascending[std::min(index, ascending.size() - 1)];
}

}  // namespace

RunFigures figures(const RunResult& run) {
  RunFigures f;
  f.submitted = run.jobs.size();
  std::vector<double> jct;
  double floor = 0, sum = 0, queue = 0, slowdown = 0, gpu_seconds = 0;
  double first_submit = HUGE_VAL, last_finish = -HUGE_VAL;
  std::uint64_t with_duration = 0;
  std::unordered_set<std::string_view> names;
  for (const JobRow& job : run.jobs) {
    if (!job.name.empty() && !names.insert(job.name).second) ++f.duplicates;
    f.unfinished += terminal(job.state) ? 0 : 1;
    first_submit = std::min(first_submit, job.submit_s);
    gpu_seconds += job.service_s * job.gpus;
    if (job.state == JobPhase::failed || job.state == JobPhase::cancelled) ++f.failed;
    if (job.state != JobPhase::finished || job.finish_s < 0) continue;
    ++f.finished;
    last_finish = std::max(last_finish, job.finish_s);
    const double took = job.finish_s - job.submit_s;
    jct.push_back(took);
    sum += took;
    queue += job.start_s - job.submit_s;
    floor += job.duration_s;
    if (job.duration_s > 0) {
      slowdown += took / job.duration_s;
      ++with_duration;
    }
  }
  if (f.finished == 0) return f;
  const auto n = static_cast<double>(f.finished);
  f.floor_jct_s = floor / n;
  f.avg_jct_s = sum / n;
  f.avg_queue_s = queue / n;
  if (with_duration > 0) f.avg_slowdown = slowdown / static_cast<double>(with_duration);
  std::sort(jct.begin(), jct.end());
  f.p50_jct_s = percentile(jct, 0.50);
  f.p90_jct_s = percentile(jct, 0.90);
  f.p99_jct_s = percentile(jct, 0.99);
  f.makespan_s = last_finish - first_submit;
  if (run.gpus > 0 && f.makespan_s > 0) f.gpu_utilization = gpu_seconds / (run.gpus * f.makespan_s);
  return f;
}

}  // namespace starling
