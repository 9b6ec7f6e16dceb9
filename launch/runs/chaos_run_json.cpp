// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/chaos_run_json.h"

#include <nlohmann/json.hpp>

namespace starling {

using nlohmann::json;

std::string to_text(const ChaosRun& run) {
  json out{{"seed", run.seed},
           {"policy", run.policy},
           {"sizes", {run.agents, run.executors, run.gpus, run.jobs}},
           {"ends", {run.finished, run.cancelled, run.refused, run.failed, run.never_taken}},
           {"simulated_s", run.simulated_s},
           {"counts", {run.events, run.trace_hash}},
           {"twice", run.twice},
           {"faults", run.faults},
           {"fates", run.fates},
           {"active", run.active},
           {"marks", run.marks},
           {"times", run.times}};
  if (run.failure) {
    out["failure"] = {run.failure->rule, run.failure->at_s, run.failure->message};
  }
  // What a log's tail holds need not be text.
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

ChaosRun chaos_run_of(const std::string& text) {
  const json in = json::parse(text);
  ChaosRun run;
  run.seed = in["seed"];
  run.policy = in["policy"];
  const auto& sizes = in["sizes"];
  run.agents = sizes[0], run.executors = sizes[1], run.gpus = sizes[2], run.jobs = sizes[3];
  const auto& ends = in["ends"];
  run.finished = ends[0], run.cancelled = ends[1], run.refused = ends[2], run.failed = ends[3];
  run.never_taken = ends[4];
  run.simulated_s = in["simulated_s"];
  run.events = in["counts"][0];
  run.trace_hash = in["counts"][1];
  run.twice = in["twice"];
  run.faults = in["faults"].get<FaultCounts>();
  run.fates = in["fates"].get<std::map<std::string, FaultCounts>>();
  run.active = in["active"].get<std::vector<std::string>>();
  run.marks = in["marks"].get<FaultCounts>();
  run.times = in["times"].get<ChaosTimes>();
  if (in.contains("failure")) {
    const auto& failure = in["failure"];
    run.failure = ChaosFailure{run.seed, failure[0], failure[1], failure[2]};
  }
  return run;
}

}  // namespace starling
