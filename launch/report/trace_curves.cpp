// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "launch/report/distribution.h"
#include "launch/report/run_curves.h"
#include "launch/report/workload_page.h"

namespace starling {
namespace {

constexpr std::size_t kCurvePoints = 300;
constexpr std::size_t kGangsMax = 16;  // beyond so many sizes they are drawn by powers of two

std::vector<TraceCurves::Class> duration_classes(const Trace& trace) {
  struct Range {
    const char* name;
    std::uint32_t least, most;
  };
  constexpr Range kRanges[] = {{"all", 0, ~0U},         {"1 GPU", 1, 1},
                               {"2 to 4 GPUs", 2, 4},   {"5 to 8 GPUs", 5, 8},
                               {"9 to 32 GPUs", 9, 32}, {"above 32 GPUs", 33, ~0U}};
  std::vector<TraceCurves::Class> classes;
  for (const Range& range : kRanges) {
    std::vector<double> durations;
    for (const TraceJob& job : trace.jobs) {
      const std::uint32_t gpus = job.spec.gpus();
      if (gpus >= range.least && gpus <= range.most)
        durations.push_back(seconds(job.spec.duration));
    }
    if (durations.empty()) continue;
    TraceCurves::Class& entry = classes.emplace_back();
    entry.name = range.name;
    entry.jobs = durations.size();
    entry.duration = distribution(std::move(durations), kCurvePoints);
  }
  return classes;
}

void add(TraceCurves::Share& share, const JobSpec& spec) {
  ++share.jobs;
  share.gpu_hours += spec.gpus() * seconds(spec.duration) / 3600;
}

std::vector<TraceCurves::Share> gang_shares(const Trace& trace) {
  std::map<std::uint32_t, TraceCurves::Share> exact, powers;  // powers: by the largest of a range
  for (const TraceJob& job : trace.jobs) {
    const std::uint32_t gpus = job.spec.gpus();
    std::uint32_t most = 1;
    while (most < gpus) most *= 2;
    add(exact[gpus], job.spec);
    add(powers[most], job.spec);
  }
  std::vector<TraceCurves::Share> out;
  const bool few = exact.size() <= kGangsMax;
  for (auto& [gpus, share] : few ? exact : powers) {
    share.name = few || gpus <= 2 ? std::to_string(gpus)
                                  : std::to_string(gpus / 2 + 1) + "–" + std::to_string(gpus);
    out.push_back(std::move(share));
  }
  return out;
}

/// Shares by one of the names of a job.
std::vector<TraceCurves::Share> shares(const Trace& trace, std::string JobSpec::*name) {
  std::map<std::string, TraceCurves::Share> by_name;
  for (const TraceJob& job : trace.jobs) add(by_name[job.spec.*name], job.spec);
  if (by_name.size() == 1 && by_name.begin()->first.empty()) return {};
  std::vector<TraceCurves::Share> all;
  for (auto& [key, share] : by_name) {
    share.name = key.empty() ? "(unknown)" : key;
    all.push_back(std::move(share));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.gpu_hours > b.gpu_hours; });
  if (all.size() <= TraceCurves::kSharesMax) return all;
  TraceCurves::Share others{std::to_string(all.size() - TraceCurves::kSharesMax + 1) + " others", 0,
                            0};
  for (std::size_t i = TraceCurves::kSharesMax - 1; i < all.size(); ++i) {
    others.jobs += all[i].jobs;
    others.gpu_hours += all[i].gpu_hours;
  }
  all.resize(TraceCurves::kSharesMax - 1);
  all.push_back(std::move(others));
  return all;
}

/// GPU seconds of the bins that a job that never waits fills.
void add_demand(std::vector<double>& bins, double bin_s, double from, double to, double gpus) {
  for (std::size_t b = static_cast<std::size_t>(from / bin_s); b < bins.size(); ++b) {
    const double low = static_cast<double>(b) * bin_s;
    if (low >= to) return;
    bins[b] += gpus * (std::min(to, low + bin_s) - std::max(from, low));
  }
}

}  // namespace

TraceCurves trace_curves(const Trace& trace, std::size_t bins) {
  TraceCurves curves;
  if (trace.jobs.empty()) return curves;
  curves.durations = duration_classes(trace);
  curves.gangs = gang_shares(trace);
  curves.users = shares(trace, &JobSpec::user);
  curves.queues = shares(trace, &JobSpec::queue);
  curves.models = shares(trace, &JobSpec::model);

  const double first = seconds(trace.jobs.front().submit);
  const double span = std::max(1.0, seconds(trace.jobs.back().submit) - first);
  curves.bin_s = round_bin(span, bins);
  const auto count = static_cast<std::size_t>(std::ceil(span / curves.bin_s - 1e-9));
  curves.jobs_per_hour.assign(count, 0);
  curves.demand_gpus.assign(count, 0);
  for (const TraceJob& job : trace.jobs) {
    const double at = seconds(job.submit) - first;
    const auto bin = std::min(static_cast<std::size_t>(at / curves.bin_s), count - 1);
    ++curves.jobs_per_hour[bin];
    add_demand(curves.demand_gpus, curves.bin_s, at, at + seconds(job.spec.duration),
               job.spec.gpus());
  }
  for (std::size_t b = 0; b < count; ++b) {
    // The last bin may reach beyond the last submission; a sliver of one says nothing of a rate.
    const double left = span - static_cast<double>(b) * curves.bin_s;
    const double length = std::clamp(left, curves.bin_s / 2, curves.bin_s);
    curves.jobs_per_hour[b] *= 3600 / length;
    curves.demand_gpus[b] /= curves.bin_s;
  }
  return curves;
}

}  // namespace starling
