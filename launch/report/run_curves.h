// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/run/run_result.h"
#include "topology/topology.h"

namespace starling {

/// What the pages draw of one run: small, whatever the run's size.
struct RunCurves {
  std::vector<std::pair<double, double>> jct;  ///< (s, share of finished jobs done by then)
  std::vector<TimePoint> timeline;             ///< ends where the run does

  /// Servers, or groups of neighbouring ones, in the order of the data centre.
  struct Row {
    std::string name;  ///< of its first server
    std::uint32_t first_gpu = 0;
  };
  std::vector<Row> rows;
  double heat_bin_s = 0;                         ///< a round number of seconds, minutes, hours, ...
  std::vector<std::vector<std::uint32_t>> heat;  ///< per row and bin, 0 to 100 % busy

  struct Bar {
    std::string job;
    double submit_s = 0, start_s = 0, finish_s = 0;
    std::uint32_t gpus = 0;
    std::string placement;
  };
  /// All that ran within the window, by start. The window is the whole run where that is no more
  /// bars than wanted, else as long as they suffice around the start of the middle job. Of more
  /// jobs than bars at once those of the fewest GPUs are left out.
  std::vector<Bar> gantt;
  double gantt_from_s = 0, gantt_to_s = 0;
  std::size_t gantt_left_out = 0;
};

struct CurveLimits {
  std::size_t jct = 200, timeline = 200, bars = 1500;
  std::uint32_t heat_bins = 60, heat_rows = 48;
};
/// A job counts as busy from its first start to its end on the GPUs of its last attempt.
[[nodiscard]] RunCurves run_curves(const RunResult& run, const Topology& topology,
                                   const CurveLimits& limits = {});

/// The curves as the pages' scripts read them: JSON text.
[[nodiscard]] std::string curves_json(const RunCurves& curves);

/// The shortest round length of time (1, 2, 5, 10, 15, 30 s, min; 1, 2, 3, 6, 12 h; 1, 2, 5, 7 d,
/// ...) of which `bins` cover `span_s` > 0.
[[nodiscard]] double round_bin(double span_s, std::size_t bins);

}  // namespace starling
