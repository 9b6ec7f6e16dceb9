// SPDX-License-Identifier: Apache-2.0
// Data centres, jobs and options.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "launch/embed/objects.h"
#include "launch/system/text.h"
#include "topology/file/load.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"
#include "workload/traces/trace_format.h"

using namespace starling;

namespace {

/// What of `given` is the caller's from here on; null, and its error said.
template <class Object, class Value>
Object* owned(Result<Value> given) {
  if (given) return new Object{std::move(given).value()};
  say_wrong(given.error().message);
  return nullptr;
}

template <class Object>
Object* nothing(const char* what) {
  say_wrong(what);
  return nullptr;
}

using Set = std::function<bool(RunOptions&, const std::string&)>;

Set text_option(std::string RunOptions::*field) {
  return [field](RunOptions& run, const std::string& value) { return run.*field = value, true; };
}

const std::map<std::string, Set>& settable() {
  static const std::map<std::string, Set> all{
      {"policy", text_option(&RunOptions::policy)},
      {"physics", text_option(&RunOptions::physics)},
      {"speed", text_option(&RunOptions::speed)},
      {"durations", text_option(&RunOptions::durations)},
      {"network", text_option(&RunOptions::network)},
      {"agents",
       [](RunOptions& run, const std::string& value) {
         const auto n = parse_whole(value);
         if (n && *n >= 1 && *n <= 4096) run.agents = static_cast<std::uint32_t>(*n);
         return n && *n >= 1 && *n <= 4096;
       }},
      {"seed",
       [](RunOptions& run, const std::string& value) {
         const auto n = parse_whole(value);
         if (n) run.seed = *n;
         return n.has_value();
       }},
      {"load",
       [](RunOptions& run, const std::string& value) {
         const auto x = parse_decimal(value);
         if (x && *x > 0) run.load = *x;
         return x && *x > 0;
       }},
      {"check",
       [](RunOptions& run, const std::string& value) {
         run.check = value == "yes";
         return value == "yes" || value == "no";
       }},
  };
  return all;
}

int set_option(starling_options& options, const std::string& name, const std::string& value) {
  const auto found = settable().find(name);
  if (found == settable().end()) {
    std::vector<std::string> known;
    for (const auto& [one, set] : settable()) known.push_back(one);
    return wrong_call("there is no option '" + name + "'; there are " + joined(known, ", "));
  }
  if (!found->second(options.run, value))
    return wrong_call("--" + name + ": '" + value + "' is wrong; see starling sim --help");
  if (name == "policy") options.own.reset();
  return 0;
}

int add_job(Trace& trace, const char* name, double submit_s, std::uint32_t gpus, double duration_s,
            const char* model) {
  if (!(submit_s >= 0) || !std::isfinite(submit_s) || !(duration_s > 0) ||
      !std::isfinite(duration_s) || gpus == 0)
    return wrong_call("job '" + std::string(name) +
                      "': give a time from 0 on, at least 1 GPU and a duration above 0");
  TraceJob job;
  job.spec.id = trace_job_id(trace.jobs.size());
  job.spec.name = name;
  job.spec.model = model == nullptr ? "" : model;
  job.spec.duration = from_seconds(duration_s);
  job.submit = from_seconds(submit_s);
  set_gang(job.spec, gpus);
  trace.jobs.push_back(std::move(job));
  return 0;
}

}  // namespace

starling_topology* starling_topology_load(const char* file) {
  return guarded_call<>(static_cast<starling_topology*>(nullptr), [&] {
    if (file == nullptr) return nothing<starling_topology>("starling_topology_load: no file");
    return owned<starling_topology>(load_topology(file));
  });
}

starling_topology* starling_topology_generate(const char* kind, uint32_t servers,
                                              uint32_t gpus_per_server) {
  return guarded_call<>(static_cast<starling_topology*>(nullptr), [&] {
    if (kind == nullptr) return nothing<starling_topology>("starling_topology_generate: no kind");
    GeneratorOptions options;
    options.servers = servers;
    options.gpus_per_server = gpus_per_server;
    return owned<starling_topology>(generate(kind, options));
  });
}

uint32_t starling_topology_servers(const starling_topology* topology) {
  return topology == nullptr ? 0 : topology->topology.server_count();
}
uint32_t starling_topology_gpus(const starling_topology* topology) {
  return topology == nullptr ? 0 : topology->topology.gpu_count();
}
void starling_topology_free(starling_topology* topology) { delete topology; }

starling_workload* starling_workload_read(const char* file, const char* format) {
  return guarded_call<>(static_cast<starling_workload*>(nullptr), [&] {
    if (file == nullptr) return nothing<starling_workload>("starling_workload_read: no file");
    TraceOptions options;
    options.format = format == nullptr ? "" : format;
    const auto known = trace_formats();
    if (format != nullptr && std::find(known.begin(), known.end(), options.format) == known.end()) {
      say_wrong("'" + options.format + "' is no trace format; give " + joined(known, ", "));
      return static_cast<starling_workload*>(nullptr);
    }
    return owned<starling_workload>(read_trace(file, options));
  });
}

starling_workload* starling_workload_new(void) {
  return guarded_call<>(static_cast<starling_workload*>(nullptr),
                        [] { return new starling_workload; });
}

int starling_workload_add(starling_workload* workload, const char* name, double submit_s,
                          uint32_t gpus, double duration_s, const char* model) {
  return guarded_call<>(-1, [&] {
    if (workload == nullptr || name == nullptr)
      return wrong_call("starling_workload_add: no workload, or no name");
    return add_job(workload->trace, name, submit_s, gpus, duration_s, model);
  });
}

size_t starling_workload_jobs(const starling_workload* workload) {
  return workload == nullptr ? 0 : workload->trace.jobs.size();
}
void starling_workload_free(starling_workload* workload) { delete workload; }

starling_options* starling_options_new(void) {
  return guarded_call<>(static_cast<starling_options*>(nullptr),
                        [] { return new starling_options; });
}

int starling_options_set(starling_options* options, const char* name, const char* value) {
  return guarded_call<>(-1, [&] {
    if (options == nullptr || name == nullptr || value == nullptr)
      return wrong_call("starling_options_set: no options, no name or no value");
    return set_option(*options, name, value);
  });
}

int starling_options_set_progress(starling_options* options, starling_progress call,
                                  void* context) {
  if (options == nullptr) return wrong_call("starling_options_set_progress: no options");
  options->progress = call;
  options->context = context;
  return 0;
}

int starling_options_set_policy(starling_options* options, const starling_policy* policy) {
  return guarded_call<>(-1, [&] {
    if (options == nullptr || policy == nullptr || policy->decide == nullptr)
      return wrong_call("starling_options_set_policy: no options, or no decide");
    options->own = *policy;
    return 0;
  });
}

void starling_options_free(starling_options* options) { delete options; }
