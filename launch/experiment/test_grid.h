// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "launch/experiment/load_experiment.h"
#include "launch/experiment/run_grid.h"

namespace starling {

inline const char* const kGridText = R"(name: grid
topologies: [{name: a, generate: flat, servers: 2, gpus_per_server: 4}]
workloads: [{name: w, generate: philly-like, jobs: 20}]
loads: [0.7, 0.9]
policies: [fifo, sjf]
seeds: 3
jobs: yes
)";

/// What a policy does here: fifo takes 60 s longer than a job's duration, sjf 30 s.
inline RunResult fake_run(const Topology& topology, const Trace& trace, const SimOptions& options) {
  RunResult run;
  run.policy = options.policy;
  run.mode = "sim";
  run.gpus = topology.gpu_count();
  run.servers = topology.server_count();
  run.agents = options.agents;
  run.seed = options.seed;
  for (const TraceJob& job : trace.jobs) {
    JobRow& row = run.jobs.emplace_back();
    row.name = job.spec.name;
    row.submit_s = seconds(job.submit);
    row.start_s = row.submit_s + (options.policy == "fifo" ? 60 : 30);
    row.duration_s = row.service_s = seconds(job.spec.duration);
    row.finish_s = row.start_s + row.duration_s;
    row.gpus = job.spec.gpus();
    row.placement = "0-3";
    row.state = JobPhase::finished;
  }
  return run;
}

/// For tests: a grid of 12 runs that take no time, and what was called.
struct TestGrid {
  TestGrid() : experiment(parse_experiment(kGridText, "x.yaml", policies).value()) {
    inputs = open_inputs(experiment).value();
    points = expand(experiment, inputs).value();
  }
  Result<GridOutcome> run(const std::filesystem::path& out, bool resume = false,
                          const std::string& fail_policy = {}, bool force = false) {
    GridOptions options;
    options.resume = resume;
    options.force = force;
    return run(out, options, fail_policy);
  }
  Result<GridOutcome> run(const std::filesystem::path& out, GridOptions options,
                          const std::string& fail_policy = {}) {
    calls = 0;
    options.out = out;
    options.threads = 3;
    options.failed = [this](const RunPoint& point, const Error& error) {
      complaints.push_back(point.label + ": " + error.message);
    };
    options.progress = [this](std::uint64_t done, std::uint64_t total, double) {
      last_done = done;
      last_total = total;
    };
    return run_grid(
        experiment, inputs, points, policies,
        [&](const Topology& topology, const Trace& trace, const PolicyRegistry&,
            const SimOptions& options_of_run) -> Result<RunResult> {
          ++calls;
          if (pause > std::chrono::milliseconds(0)) std::this_thread::sleep_for(pause);
          if (options_of_run.policy == fail_policy && options_of_run.seed == 2)
            return {Errc::invalid, "it broke"};
          if (options_of_run.policy == fail_policy && options_of_run.seed == 3)
            throw std::bad_alloc();
          return fake_run(topology, trace, options_of_run);
        },
        options);
  }

  PolicyRegistry policies = make_policy_registry();
  Experiment experiment;
  Inputs inputs;
  std::vector<RunPoint> points;
  std::atomic<int> calls = 0;
  std::chrono::milliseconds pause{0};  ///< each run takes so long
  std::uint64_t last_done = 0, last_total = 0;
  std::vector<std::string> complaints;
};

}  // namespace starling
