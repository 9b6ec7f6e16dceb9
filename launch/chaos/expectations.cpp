// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/expectations.h"

#include <algorithm>

#include "launch/system/text.h"

namespace starling::chaos_live {
namespace {

/// From the fault to a job accepted, of takeovers that nothing else disturbed; ascending.
std::vector<double> quiet_takeovers(const LiveReport& report) {
  std::vector<double> accepted;
  for (const auto& c : report.recoveries) {
    if (c.takeover() && !c.disturbed) accepted.push_back(c.accepted);
  }
  std::sort(accepted.begin(), accepted.end());
  return accepted;
}

}  // namespace

void measure_throughput(LiveReport& report, const std::vector<double>& starts) {
  const auto first = std::find_if(report.recoveries.begin(), report.recoveries.end(),
                                  [](const auto& c) { return c.takeover(); });
  if (first == report.recoveries.end()) return;
  const auto rate = [&](double from, double until) {
    return static_cast<double>(std::count_if(starts.begin(), starts.end(),
                                             [&](double t) { return t >= from && t < until; })) /
           (until - from);
  };
  const double over = first->since + std::max(first->accepted, first->reconciled);
  report.throughput_before = rate(std::max(report.began + 5, first->since - 15), first->since);
  report.throughput_after = rate(over + 15, over + 30);
}

std::vector<std::string> unmet(const Expectations& e, const LiveReport& report) {
  std::vector<std::string> all;
  const auto must = [&](bool good, const std::string& what) {
    if (!good) all.push_back(what);
  };
  std::size_t faults = 0, kills = 0;
  for (const FaultRecord& f : report.faults) {
    faults += !f.skipped;
    kills += !f.skipped && f.kind == LiveFaultKind::kill;
  }
  const auto enough = [&](std::size_t n, std::size_t least, const std::string& what) {
    must(n >= least,
         "only " + std::to_string(n) + " " + what + " happened; expected " + std::to_string(least));
  };
  enough(faults, e.faults, "faults");
  enough(kills, e.kills, "kills");
  enough(report.takeovers, e.takeovers, "takeovers");
  const std::vector<double> accepted = quiet_takeovers(report);
  if (!accepted.empty() && e.takeover_median > 0)
    must(accepted[accepted.size() / 2] <= e.takeover_median,
         "the median takeover took " + human_seconds(accepted[accepted.size() / 2]) +
             "; expected " + human_seconds(e.takeover_median) + " at most");
  if (!accepted.empty() && e.takeover_most > 0)
    must(accepted.back() <= e.takeover_most, "a takeover took " + human_seconds(accepted.back()) +
                                                 "; expected " + human_seconds(e.takeover_most));
  double slowest = 0;
  for (const auto& a : report.answers) slowest = a.excused ? slowest : std::max(slowest, a.took);
  if (e.answered_within > 0)
    must(slowest <= e.answered_within, "a submit was answered after " + human_seconds(slowest) +
                                           "; expected " + human_seconds(e.answered_within) +
                                           " at most");
  must(e.rss_mib == 0 || report.rss_mib <= e.rss_mib,
       "an agent had " + std::to_string(static_cast<int>(report.rss_mib)) + " MiB of memory");
  if (e.throughput > 0)
    must(report.throughput_after >= e.throughput * report.throughput_before,
         "jobs started a second: " + std::to_string(report.throughput_before) + " before, " +
             std::to_string(report.throughput_after) + " after the takeover");
  return all;
}

}  // namespace starling::chaos_live
