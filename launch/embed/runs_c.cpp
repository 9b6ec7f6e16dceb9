// SPDX-License-Identifier: Apache-2.0
// Runs, and what they gave.
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "launch/embed/objects.h"
#include "launch/wiring/wiring.h"
#include "sim/simulate.h"
#include "sim/summary.h"

using namespace starling;

namespace {

starling_run* wrong_run(const std::string& what) {
  say_wrong(what);
  return nullptr;
}

starling_run* run(const Topology& topology, const Trace& given, starling_options options) {
  Trace trace = given;
  std::stable_sort(trace.jobs.begin(), trace.jobs.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.submit < b.submit; });
  PolicyRegistry policies = simulated_policies();
  if (options.own) {
    policies = with_own_policy(std::move(policies), *options.own);
    options.run.policy = kOwnPolicy;
  }
  auto input = make_run_input(options.run, policies, topology, std::move(trace));
  if (!input) return wrong_run(input.error().message);
  if (options.progress != nullptr) {
    input.value().sim.progress = [&](std::uint64_t done, std::uint64_t total) {
      if (options.progress(options.context, done, total) != 0)
        throw std::runtime_error("the run was ended by its progress function");
    };
  }
  auto result = simulate(input.value().topology, input.value().trace, policies, input.value().sim);
  if (!result) return wrong_run(result.error().message);
  auto made = std::make_unique<starling_run>();
  made->result = std::move(result).value();
  made->result.load = options.run.load;
  made->result.dropped = given.dropped;
  return made.release();
}

}  // namespace

starling_run* starling_simulate(const starling_topology* topology,
                                const starling_workload* workload,
                                const starling_options* options) {
  return guarded_call<>(static_cast<starling_run*>(nullptr), [&] {
    if (topology == nullptr || workload == nullptr)
      return wrong_run("starling_simulate: no data centre, or no workload");
    return run(topology->topology, workload->trace,
               options == nullptr ? starling_options{} : *options);
  });
}

uint64_t starling_run_hash(const starling_run* run) {
  return run == nullptr ? 0 : run->result.trace_hash;
}

const char* starling_run_json(starling_run* run) {
  return guarded_call<>(static_cast<const char*>(nullptr), [&]() -> const char* {
    if (run == nullptr) return wrong_call("starling_run_json: no run"), nullptr;
    if (run->json.empty()) run->json = summary_json(std::span(&run->result, 1));
    return run->json.c_str();
  });
}

double starling_run_figure(const starling_run* run, const char* name) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return guarded_call<>(kNone, [&] {
    if (run == nullptr || name == nullptr) return wrong_call("no run, or no name"), kNone;
    const auto all = nlohmann::json::parse(summary_json(std::span(&run->result, 1)));
    const auto& figures = all.at("runs").at(0);
    const auto found = figures.find(name);
    if (found == figures.end()) {
      say_wrong("summary.json has no key '" + std::string(name) + "'");
      return kNone;
    }
    return found->is_number() ? found->get<double>() : kNone;
  });
}

size_t starling_run_jobs(const starling_run* run) {
  return run == nullptr ? 0 : run->result.jobs.size();
}

int starling_run_job(const starling_run* run, size_t index, starling_result* result) {
  if (run == nullptr || result == nullptr || index >= run->result.jobs.size())
    return wrong_call("there is no such job");
  const JobRow& row = run->result.jobs[index];
  *result = {row.name.c_str(), row.model.c_str(), name_of(row.state), row.placement.c_str(),
             row.submit_s,     row.start_s,       row.finish_s,       row.service_s,
             row.duration_s,   row.gpus,          row.agent,          row.attempts,
             row.forwards,     row.preemptions};
  return 0;
}

void starling_run_free(starling_run* run) { delete run; }
