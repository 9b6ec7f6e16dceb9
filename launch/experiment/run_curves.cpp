#include "launch/experiment/run_curves.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace starling {
namespace {

std::vector<const JobRow*> finished_jobs(const RunResult& run) {
  std::vector<const JobRow*> out;
  for (const JobRow& job : run.jobs) {
    if (job.state == JobPhase::finished && job.start_s >= 0) out.push_back(&job);
  }
  return out;
}

std::vector<std::pair<double, double>> jct_curve(const std::vector<const JobRow*>& jobs,
                                                 std::size_t points) {
  std::vector<double> times;
  for (const JobRow* job : jobs) times.push_back(job->finish_s - job->submit_s);
  std::sort(times.begin(), times.end());
  std::vector<std::pair<double, double>> curve;
  const std::size_t n = times.size(), count = std::min(points, n);
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t rank = i * n / count;
    curve.emplace_back(times[rank - 1], static_cast<double>(rank) / static_cast<double>(n));
  }
  return curve;
}

std::vector<TimePoint> thinned(const std::vector<TimePoint>& all, std::size_t points) {
  std::vector<TimePoint> out;
  const std::size_t step = all.size() / std::max<std::size_t>(1, points) + 1;
  for (std::size_t i = 0; i < all.size(); i += step) out.push_back(all[i]);
  if (!all.empty() && (all.size() - 1) % step != 0) out.push_back(all.back());
  return out;
}

/// "0-7,12" as ranges of GPUs.
std::vector<IndexRange> ranges(const std::string& placement) {
  std::vector<IndexRange> out;
  const char* at = placement.data();
  const char* const end = at + placement.size();
  while (at < end) {
    std::uint32_t first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) break;
    std::uint32_t last = first;
    if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    out.push_back({first, last + 1});
    at = read.ptr < end ? read.ptr + 1 : end;
  }
  return out;
}

/// Busy GPU seconds by group of servers and bin of time.
class Heat {
 public:
  Heat(const Topology& topology, double end_s, const CurveLimits& limits)
      : topology_(topology),
        bins_(std::max(1U, limits.heat_bins)),
        bin_s_(end_s / bins_),
        per_row_((topology.server_count() + limits.heat_rows - 1) / std::max(1U, limits.heat_rows)),
        busy_((topology.server_count() + per_row_ - 1) / per_row_, std::vector<double>(bins_)) {}

  void add(const JobRow& job) {
    for (const IndexRange& range : ranges(job.placement)) {
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
      curves.heat_rows.push_back(topology_.server(ServerId{first}).name);
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
  std::uint32_t bins_;
  double bin_s_;
  std::uint32_t per_row_;
  std::vector<std::vector<double>> busy_;
};

}  // namespace

RunCurves run_curves(const RunResult& run, const Topology& topology, const CurveLimits& limits) {
  RunCurves curves;
  std::vector<const JobRow*> jobs = finished_jobs(run);
  curves.jct = jct_curve(jobs, limits.jct);
  curves.timeline = thinned(run.timeline, limits.timeline);
  double end_s = 0;
  for (const JobRow* job : jobs) end_s = std::max(end_s, job->finish_s);
  if (end_s > 0 && topology.server_count() > 0) {
    Heat heat(topology, end_s, limits);
    for (const JobRow* job : jobs) heat.add(*job);
    heat.put(curves);
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const JobRow* a, const JobRow* b) { return a->start_s < b->start_s; });
  const std::size_t bars = std::min(limits.bars, jobs.size());
  const std::size_t first = (jobs.size() - bars) / 2;
  for (std::size_t i = first; i < first + bars; ++i) {
    const JobRow& job = *jobs[i];
    curves.gantt.push_back({job.name, job.submit_s, job.start_s, job.finish_s, job.gpus});
  }
  return curves;
}

}  // namespace starling
