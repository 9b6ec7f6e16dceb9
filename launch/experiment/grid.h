// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/experiment/experiment.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// One run of the grid, in words that the results repeat.
struct RunPoint {
  std::string id;  ///< 16 hex digits, a hash of everything that the run depends on but the program
  std::string topology, workload, split;
  double load = 0;  ///< 0: submit times as they are
  std::uint64_t seed = 1;
  std::uint32_t agents = 1;
  std::string label, policy;  ///< its name in tables, its text
  Family family = Family::order;
  Powers may = {};
  std::string knows;       ///< of how long jobs take: knows_text()
  std::string faults;      ///< name of the faults, empty: none
  double bound_jct_s = 0;  ///< of its jobs: pair_bound(); 0: not asked
  /// Of the experiment.
  std::uint32_t topology_index = 0, workload_index = 0, policy_index = 0, faults_index = 0;
};

/// The inputs of the experiment's split, opened once. By index of the experiment; those of other
/// splits are not opened.
struct Inputs {
  std::vector<std::vector<Topology>> topologies;  ///< none or one
  std::vector<Trace> workloads;
};
[[nodiscard]] Result<Inputs> open_inputs(const Experiment& experiment);
/// The jobs of a run, on inputs.topologies[point.topology_index]: prepare_jobs(), with its errors.
[[nodiscard]] Result<Trace> jobs_of(const Experiment& experiment, const Inputs& inputs,
                                    const RunPoint& point);

/// All runs. Those of one pair follow one another, so that an interrupted experiment leaves whole
/// pairs. Ids do not depend on names, labels or where files lie. `invalid`: more agents than
/// servers, more than kRunsMax runs.
[[nodiscard]] Result<std::vector<RunPoint>> expand(const Experiment& experiment,
                                                   const Inputs& inputs);

constexpr std::size_t kRunsMax = 1'000'000;

}  // namespace starling
