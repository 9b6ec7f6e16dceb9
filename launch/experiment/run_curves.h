#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/run_result.h"
#include "topology/topology.h"

namespace starling {

/// What a report draws of one run: small, whatever the run's size.
struct RunCurves {
  std::vector<std::pair<double, double>> jct;  ///< (s, share of finished jobs done by then)
  std::vector<TimePoint> timeline;
  double heat_bin_s = 0;
  std::vector<std::string> heat_rows;            ///< servers, or the first of neighbours
  std::vector<std::vector<std::uint32_t>> heat;  ///< per row and bin, 0 to 100 % busy
  struct Bar {
    std::string job;
    double submit_s = 0, start_s = 0, finish_s = 0;
    std::uint32_t gpus = 0;
  };
  std::vector<Bar> gantt;  ///< jobs that started one after another around the middle of the run
};

struct CurveLimits {
  std::size_t jct = 100, timeline = 200, bars = 80;
  std::uint32_t heat_bins = 60, heat_rows = 48;
};
/// A job counts as busy from its first start to its end on the GPUs of its last attempt.
[[nodiscard]] RunCurves run_curves(const RunResult& run, const Topology& topology,
                                   const CurveLimits& limits = {});

}  // namespace starling
