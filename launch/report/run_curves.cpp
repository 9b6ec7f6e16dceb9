// SPDX-License-Identifier: Apache-2.0
#include "launch/report/run_curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "launch/report/distribution.h"
#include "topology/placement_text.h"

namespace starling {
namespace {

bool ran(const JobRow& job) { return job.start_s >= 0 && job.finish_s > job.start_s; }

std::vector<TimePoint> thinned(const std::vector<TimePoint>& all, std::size_t points) {
  std::vector<TimePoint> out;
  const std::size_t step = all.size() / std::max<std::size_t>(1, points) + 1;
  for (std::size_t i = 0; i < all.size(); i += step) out.push_back(all[i]);
  if (!all.empty() && (all.size() - 1) % step != 0) out.push_back(all.back());
  return out;
}

/// Busy GPU seconds by group of servers and bin of time.
class Heat {
 public:
  Heat(const Topology& topology, double end_s, const CurveLimits& limits)
      : topology_(topology),
        bin_s_(round_bin(end_s, limits.heat_bins)),
        per_row_((topology.server_count() + limits.heat_rows - 1) / std::max(1U, limits.heat_rows)),
        busy_((topology.server_count() + per_row_ - 1) / per_row_,
              std::vector<double>(static_cast<std::size_t>(std::ceil(end_s / bin_s_ - 1e-9)))) {}

  void add(const JobRow& job) {
    for (const IndexRange& range : gpu_ranges(job.placement)) {
      const std::uint32_t last = std::min(range.last, topology_.gpu_count());
      for (std::uint32_t gpu = range.first; gpu < last;) {
        const ServerId server = topology_.server_of(GpuId{gpu});
        const std::uint32_t until = std::min(last, topology_.server(server).gpus.last);
        add(busy_[server.value / per_row_], job, until - gpu);
        gpu = until;
      }
    }
  }

  void put(RunCurves& curves) const {
    curves.heat_bin_s = bin_s_;
    for (std::uint32_t row = 0; row < busy_.size(); ++row) {
      const std::uint32_t first = row * per_row_;
      const std::uint32_t last = std::min(first + per_row_, topology_.server_count());
      double gpus = 0;
      for (std::uint32_t s = first; s < last; ++s)
        gpus += topology_.server(ServerId{s}).gpus.size();
      const Server& server = topology_.server(ServerId{first});
      curves.rows.push_back({server.name, server.gpus.first});
      std::vector<std::uint32_t>& cells = curves.heat.emplace_back();
      for (const double busy : busy_[row]) {
        const double share = gpus > 0 ? busy / (gpus * bin_s_) : 0;
        cells.push_back(static_cast<std::uint32_t>(std::lround(100 * std::min(1.0, share))));
      }
    }
  }

 private:
  void add(std::vector<double>& row, const JobRow& job, double gpus) const {
    const auto bin = [&](double at) {
      return std::min(static_cast<std::size_t>(std::max(0.0, at) / bin_s_), row.size() - 1);
    };
    for (std::size_t b = bin(job.start_s); b <= bin(job.finish_s); ++b) {
      const double from = static_cast<double>(b) * bin_s_;
      row[b] +=
          gpus * std::max(0.0, std::min(job.finish_s, from + bin_s_) - std::max(job.start_s, from));
    }
  }

  const Topology& topology_;
  double bin_s_;
  std::uint32_t per_row_;
  std::vector<std::vector<double>> busy_;
};

/// `jobs` by start.
void add_gantt(const std::vector<const JobRow*>& jobs, double end_s, std::size_t bars,
               RunCurves& curves) {
  // Where most is going on: in the middle of the starts, not of the time.
  const double middle = jobs[jobs.size() / 2]->start_s;
  const auto within = [&](const JobRow& job, double half) {
    return job.start_s < middle + half && job.finish_s > middle - half;
  };
  const auto count = [&](double half) {
    return static_cast<std::size_t>(std::count_if(
        jobs.begin(), jobs.end(), [&](const JobRow* job) { return within(*job, half); }));
  };
  double half = end_s;
  if (jobs.size() > bars) {
    double few = 0, many = end_s;
    for (int i = 0; i < 40; ++i) {
      half = (few + many) / 2;
      (count(half) <= bars ? few : many) = half;
    }
    half = std::max(few, end_s / 500);
  }
  curves.gantt_from_s = std::max(0.0, middle - half);
  curves.gantt_to_s = std::min(end_s, middle + half);
  std::vector<const JobRow*> shown;
  std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(shown),
               [&](const JobRow* job) { return within(*job, half); });
  if (shown.size() > bars) {
    curves.gantt_left_out = shown.size() - bars;
    std::stable_sort(shown.begin(), shown.end(),
                     [](const JobRow* a, const JobRow* b) { return a->gpus > b->gpus; });
    shown.resize(bars);
    std::stable_sort(shown.begin(), shown.end(),
                     [](const JobRow* a, const JobRow* b) { return a->start_s < b->start_s; });
  }
  for (const JobRow* job : shown) {
    curves.gantt.push_back({job->name.empty() ? to_string(job->job) : job->name, job->submit_s,
                            job->start_s, job->finish_s, job->gpus, job->placement});
  }
}

}  // namespace

double round_bin(double span_s, std::size_t bins) {
  const double least = span_s / static_cast<double>(std::max<std::size_t>(1, bins)) * (1 - 1e-9);
  constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
  constexpr std::array kRound = {1.0,          2.0,          5.0,         10.0,        15.0,
                                 30.0,         kMinute,      2 * kMinute, 5 * kMinute, 10 * kMinute,
                                 15 * kMinute, 30 * kMinute, kHour,       2 * kHour,   3 * kHour,
                                 6 * kHour,    12 * kHour,   kDay,        2 * kDay,    5 * kDay,
                                 7 * kDay,     14 * kDay};
  if (least > 1 && least <= kRound.back())
    return *std::lower_bound(kRound.begin(), kRound.end(), least);
  const double unit = least > 1 ? kDay : 1;
  const double power = std::pow(10, std::floor(std::log10(least / unit)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power * unit >= least) return digit * power * unit;
  }
  return 10 * power * unit;
}

RunCurves run_curves(const RunResult& run, const Topology& topology, const CurveLimits& limits) {
  RunCurves curves;
  std::vector<double> jct;
  for (const JobRow& job : run.jobs) {
    if (job.state == JobPhase::finished) jct.push_back(job.finish_s - job.submit_s);
  }
  curves.jct = distribution(std::move(jct), limits.jct);
  curves.timeline = thinned(run.timeline, limits.timeline);
  std::vector<const JobRow*> jobs;
  double end_s = 0;
  for (const JobRow& job : run.jobs) {
    if (!ran(job)) continue;
    jobs.push_back(&job);
    end_s = std::max(end_s, job.finish_s);
  }
  if (jobs.empty() || topology.server_count() == 0) return curves;
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const JobRow* a, const JobRow* b) { return a->start_s < b->start_s; });
  Heat heat(topology, end_s, limits);
  for (const JobRow* job : jobs) heat.add(*job);
  heat.put(curves);
  add_gantt(jobs, end_s, limits.bars, curves);
  return curves;
}

std::string curves_json(const RunCurves& curves) {
  using Json = nlohmann::ordered_json;
  const auto rounded = [](double x) { return std::round(x * 1000) / 1000; };
  Json jct = Json::array(), timeline = Json::array(), rows = Json::array(), bars = Json::array();
  for (const auto& [s, share] : curves.jct) jct.push_back({rounded(s), rounded(share)});
  for (const TimePoint& p : curves.timeline)
    timeline.push_back({rounded(p.at_s), p.busy_gpus, p.waiting});
  for (const RunCurves::Row& row : curves.rows) rows.push_back({row.name, row.first_gpu});
  for (const RunCurves::Bar& bar : curves.gantt) {
    bars.push_back({bar.job, rounded(bar.submit_s), rounded(bar.start_s), rounded(bar.finish_s),
                    bar.gpus, bar.placement});
  }
  const Json all{{"jct", jct},
                 {"timeline", timeline},
                 {"rows", rows},
                 {"heat", {{"bin_s", curves.heat_bin_s}, {"cells", curves.heat}}},
                 {"gantt",
                  {{"from_s", rounded(curves.gantt_from_s)},
                   {"to_s", rounded(curves.gantt_to_s)},
                   {"left_out", curves.gantt_left_out},
                   {"bars", bars}}}};
  return all.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace starling
