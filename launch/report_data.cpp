#include <algorithm>
#include <cmath>

#include "launch/report.h"
#include "launch/text.h"

namespace starling {
namespace {

/// "0-7,12" as ranges. Written by placement_text(), so a piece that is not a number is skipped.
std::vector<IndexRange> ranges(const std::string& placement) {
  std::vector<IndexRange> found;
  for (std::size_t at = 0; at < placement.size();) {
    const std::size_t comma = std::min(placement.find(',', at), placement.size());
    const std::string_view piece = std::string_view(placement).substr(at, comma - at);
    const std::size_t dash = piece.find('-');
    const auto first = parse_whole(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_whole(piece.substr(dash + 1));
    if (first && last) {
      found.push_back({static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last) + 1});
    }
    at = comma + 1;
  }
  return found;
}

/// Adds `gpus` busy GPUs over [from, to) to the bins of one row.
void add_busy(std::vector<double>& row, double bin_s, double from, double to, double gpus) {
  const auto last = row.size() - 1;
  const auto begin = std::min(static_cast<std::size_t>(from / bin_s), last);
  const auto end = std::min(static_cast<std::size_t>(to / bin_s), last);
  for (std::size_t b = begin; b <= end; ++b) {
    const double low = static_cast<double>(b) * bin_s;
    row[b] += gpus * std::max(0.0, std::min(to, low + bin_s) - std::max(from, low));
  }
}

}  // namespace

std::vector<std::pair<double, double>> jct_distribution(const RunResult& run, std::size_t points) {
  std::vector<double> times;
  for (const JobRow& job : run.jobs) {
    if (job.state == JobPhase::finished) times.push_back(job.finish_s - job.submit_s);
  }
  std::sort(times.begin(), times.end());
  std::vector<std::pair<double, double>> curve;
  if (times.empty()) return curve;
  const std::size_t n = times.size(), count = std::min(points, n);
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t rank = i * n / count;  // 1 to n
    curve.emplace_back(times[rank - 1], static_cast<double>(rank) / static_cast<double>(n));
  }
  return curve;
}

HeatMap heat_map(const RunResult& run, const Topology& topology, std::uint32_t bins,
                 std::uint32_t max_rows) {
  HeatMap map;
  double end_s = 0;
  for (const JobRow& job : run.jobs) end_s = std::max(end_s, job.finish_s);
  const std::uint32_t servers = topology.server_count();
  if (end_s <= 0 || servers == 0) return map;
  map.bin_s = end_s / bins;
  const std::uint32_t per_row = (servers + max_rows - 1) / max_rows;
  const std::uint32_t rows = (servers + per_row - 1) / per_row;
  std::vector<std::vector<double>> busy(rows, std::vector<double>(bins, 0.0));
  std::vector<std::uint32_t> gpus(rows, 0);
  for (std::uint32_t s = 0; s < servers; ++s) {
    const Server& server = topology.server(ServerId{s});
    gpus[s / per_row] += server.gpus.size();
    if (s % per_row == 0) map.rows.push_back(server.name);
  }
  for (const JobRow& job : run.jobs) {
    if (job.start_s < 0 || job.finish_s <= job.start_s) continue;
    for (const IndexRange& range : ranges(job.placement)) {
      const std::uint32_t last = std::min(range.last, topology.gpu_count());
      for (std::uint32_t g = range.first; g < last;) {
        const std::uint32_t server = topology.server_of(GpuId{g}).value;
        const std::uint32_t until = std::min(last, topology.server(ServerId{server}).gpus.last);
        add_busy(busy[server / per_row], map.bin_s, job.start_s, job.finish_s, until - g);
        g = until;
      }
    }
  }
  for (std::uint32_t r = 0; r < rows; ++r) {
    std::vector<std::uint32_t>& cells = map.cells.emplace_back(bins, 0U);
    for (std::uint32_t b = 0; b < bins && gpus[r] > 0; ++b) {
      const double share = busy[r][b] / (map.bin_s * gpus[r]);
      cells[b] = static_cast<std::uint32_t>(std::lround(100 * std::min(1.0, share)));
    }
  }
  return map;
}

}  // namespace starling
