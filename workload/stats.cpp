// SPDX-License-Identifier: Apache-2.0
#include "workload/stats.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

double ranked(const std::vector<double>& sorted, double p) {
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

double mean_of(const std::vector<double>& sample) {
  double sum = 0;
  for (const double x : sample) sum += x;
  return sum / static_cast<double>(sample.size());
}

double variation(const std::vector<double>& sample) {
  if (sample.empty()) return 0;
  const double mean = mean_of(sample);
  double squares = 0;
  for (const double x : sample) squares += (x - mean) * (x - mean);
  return mean > 0 ? std::sqrt(squares / static_cast<double>(sample.size())) / mean : 0;
}

}  // namespace

Quantiles quantiles(std::vector<double> sample) {
  if (sample.empty()) return {};
  std::sort(sample.begin(), sample.end());
  return {sample.front(),       ranked(sample, 0.05), ranked(sample, 0.25), ranked(sample, 0.50),
          ranked(sample, 0.75), ranked(sample, 0.90), ranked(sample, 0.95), ranked(sample, 0.99),
          sample.back(),        mean_of(sample)};
}

TraceSummary summarize(const Trace& trace) {
  TraceSummary summary;
  summary.jobs = trace.jobs.size();
  summary.dropped = trace.dropped;
  std::vector<double> gpus, durations, gaps;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const TraceJob& job = trace.jobs[i];
    const std::uint32_t gang = job.spec.gpus();
    gpus.push_back(gang);
    durations.push_back(seconds(job.spec.duration));
    if (i > 0) gaps.push_back(seconds(job.submit - trace.jobs[i - 1].submit));
    summary.gpu_hours += gang * durations.back() / 3600;
    ++summary.gangs[gang];
    ++summary.models[job.spec.model];
  }
  if (!trace.jobs.empty())
    summary.span_s = seconds(trace.jobs.back().submit - trace.jobs.front().submit);
  summary.interarrival_cv = variation(gaps);
  summary.gpus = quantiles(std::move(gpus));
  summary.duration_s = quantiles(std::move(durations));
  return summary;
}

double offered_load(const TraceSummary& summary, std::uint32_t cluster_gpus) {
  if (summary.span_s <= 0 || cluster_gpus == 0) return 0;
  return summary.gpu_hours * 3600 / summary.span_s / cluster_gpus;
}

}  // namespace starling
