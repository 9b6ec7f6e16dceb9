// SPDX-License-Identifier: Apache-2.0
#include "sim/published/muri/muri_simulator.h"

#include <algorithm>
#include <limits>
#include <span>

namespace starling {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Those that end first, if nothing else happens.
struct NextEnd {
  double at_s = kNever;
  std::vector<MuriJob*> jobs;
};

NextEnd find_next_end(double now_s, const std::vector<MuriJob*>& jobs) {
  NextEnd next;
  for (MuriJob* job : jobs) {
    if (!job->runs) continue;
    const double end_s = now_s + job->iterations_left * job->shared_iteration_s;
    if (end_s > next.at_s) continue;
    if (end_s < next.at_s) next = {end_s, {}};
    next.jobs.push_back(job);
  }
  return next;
}

void count_progress(double now_s, const std::vector<MuriJob*>& jobs) {
  for (MuriJob* job : jobs) {
    if (job->runs) {
      const double worked_s = std::max(now_s - job->seen_s - job->shared_overhead_s, 0.0);
      job->iterations_left -= worked_s / job->shared_iteration_s;
      job->executed_s = job->executed_s + now_s - job->seen_s;
    }
    job->seen_s = now_s;
  }
}

MuriFigures figures_of(std::span<const MuriJob> jobs) {
  MuriFigures figures;
  std::vector<double> jct_s;
  for (const MuriJob& job : jobs) {
    if (job.end_s < 0) continue;
    jct_s.push_back(job.end_s - job.submit_s);
    figures.mean_jct_s += jct_s.back();
    figures.makespan_s = std::max(figures.makespan_s, job.end_s);
  }
  figures.jobs = jct_s.size();
  if (jct_s.empty()) return figures;
  figures.mean_jct_s /= static_cast<double>(jct_s.size());
  std::sort(jct_s.begin(), jct_s.end());
  figures.p99_jct_s = jct_s[static_cast<std::size_t>(0.99 * static_cast<double>(jct_s.size()))];
  return figures;
}

}  // namespace

MuriFigures run_muri(std::vector<MuriJob> jobs, MuriPolicy& policy) {
  for (MuriJob& job : jobs) job.has_gpus_alone();
  std::vector<MuriJob*> here;
  std::size_t arrived = 0;
  NextEnd end;
  std::optional<double> change;
  while (arrived < jobs.size() || !here.empty()) {
    const double comes_s = arrived < jobs.size() ? jobs[arrived].submit_s : kNever;
    const bool together = policy.together(end.at_s, comes_s);
    double now_s = together ? comes_s : std::min(comes_s, end.at_s);
    if (now_s == kNever) break;  // none fits: the rest does not end
    if (change && *change < now_s) {
      now_s = *change;
    } else {
      if (together || end.at_s < comes_s) {
        for (MuriJob* job : end.jobs) {
          job->end_s = now_s;
          std::erase(here, job);
          policy.leave(*job);
        }
      }
      for (; arrived < jobs.size() && jobs[arrived].submit_s == now_s; ++arrived) {
        here.push_back(&jobs[arrived]);
        jobs[arrived].seen_s = now_s;
        policy.enter(jobs[arrived]);
      }
    }
    count_progress(now_s, here);
    policy.choose(now_s, here);
    end = find_next_end(now_s, here);
    change = policy.next_change_s(now_s, here);
  }
  return figures_of(jobs);
}

}  // namespace starling
