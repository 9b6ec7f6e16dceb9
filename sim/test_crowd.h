// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "base/rng.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

namespace starling {

/// For tests: servers of four V100s.
inline Topology v100_servers(std::uint32_t servers) {
  GeneratorOptions options;
  options.servers = servers;
  options.gpus_per_server = 4;
  options.gpu_type = "V100";
  options.cpus = 48;
  return generate_flat(options).value();
}

/// For tests: one GPU each, one of these models each, one every four minutes; more jobs than a few
/// servers have GPUs all the time, so that they share.
inline Trace crowd(std::uint32_t jobs, std::span<const std::string> models) {
  Rng rng(3);
  Trace trace;
  trace.name = "crowd";
  for (std::uint32_t i = 0; i < jobs; ++i) {
    TraceJob job;
    job.submit = std::chrono::minutes(4) * i;
    job.spec.id = trace_job_id(i);
    job.spec.model = models[rng.below(static_cast<std::uint32_t>(models.size()))];
    job.spec.duration = std::chrono::minutes(20 + rng.below(60));
    trace.jobs.push_back(job);
  }
  return trace;
}

}  // namespace starling
