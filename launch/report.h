#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/run_result.h"
#include "topology/topology.h"

namespace starling {

/// The page with @@DATA@@ where its data goes; made from launch/report/ at build time.
extern const char* const kReportTemplate;

/// One self-contained page about runs of the same input: JCT, GPUs and queue over time, a heat map
/// of the servers, all figures side by side. `runs` is not empty; `labels` names them.
[[nodiscard]] std::string report_html(std::span<const RunResult> runs,
                                      std::span<const std::string> labels,
                                      const Topology& topology);

/// Points (JCT in seconds, share of the finished jobs that took no longer), ascending, at most
/// `points`.
[[nodiscard]] std::vector<std::pair<double, double>> jct_distribution(const RunResult& run,
                                                                      std::size_t points);

/// How busy servers were over time, 0 to 100 per cell. Neighbouring servers share a row where there
/// are more than `max_rows`. A job counts from its first start to its end.
struct HeatMap {
  double bin_s = 0;
  std::vector<std::string> rows;
  std::vector<std::vector<std::uint32_t>> cells;  ///< by row, then by bin
};
[[nodiscard]] HeatMap heat_map(const RunResult& run, const Topology& topology, std::uint32_t bins,
                               std::uint32_t max_rows);

}  // namespace starling
