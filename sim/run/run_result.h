// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/ids.h"

namespace starling {

/// One job of a finished run; one row of jobs.csv. Times in seconds since the start of the run.
struct JobRow {
  JobId job;
  std::string name;
  double submit_s = 0, start_s = -1, finish_s = -1;  ///< -1: never
  std::uint32_t gpus = 0;
  std::string model;
  std::uint32_t agent = 0;  ///< last home
  std::string placement;    ///< "12-19" or "3,5-8": GPU ranges
  std::uint32_t attempts = 0, forwards = 0, preemptions = 0;
  double service_s = 0;
  double duration_s = 0;  ///< isolated, from the trace
  JobPhase state = JobPhase::unknown;
};

/// GPUs in use and jobs waiting over time, a point per change (thinned to at most 10,000).
struct TimePoint {
  double at_s = 0;
  std::uint32_t busy_gpus = 0, waiting = 0;
};

/// What a simulated or live run gives to the report. The keys of summary.json (docs/experiments.md)
/// are its fields.
struct RunResult {
  std::string policy, family, topology, workload, mode;  ///< mode: sim or live
  std::uint32_t gpus = 0, servers = 0, agents = 0;
  double load = 0;
  std::uint64_t seed = 0;
  std::vector<JobRow> jobs;  ///< by submit time, then file order
  std::vector<TimePoint> timeline;
  std::uint64_t preemptions = 0, resizes = 0, forwards = 0, cross_partition_gangs = 0,
                decisions = 0;
  double decision_p50_us = 0, decision_p99_us = 0;
  std::uint64_t messages = 0, events = 0;
  double wall_s = 0;
  std::uint64_t trace_hash = 0;
  std::uint64_t dropped = 0;  ///< rows of the trace without GPU or time: no jobs
  double resolution_s = 0;    ///< a live run cannot tell shorter times from none; 0: exact
};

/// The figures that are computed from the rows.
struct RunFigures {
  std::uint64_t submitted = 0, finished = 0, failed = 0;  ///< failed: or cancelled
  std::uint64_t unfinished = 0;                           ///< neither: the figures leave them out
  std::uint64_t duplicates = 0;  ///< jobs of a name that an earlier one has
  double floor_jct_s = 0, avg_jct_s = 0, p50_jct_s = 0, p90_jct_s = 0, p99_jct_s = 0;
  double makespan_s = 0, avg_queue_s = 0, avg_slowdown = 0, gpu_utilization = 0;
};
[[nodiscard]] RunFigures figures(const RunResult& run);

}  // namespace starling
