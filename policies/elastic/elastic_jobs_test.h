// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

namespace starling {

/// For tests: servers of eight V100s.
inline Topology servers(std::uint32_t count) {
  GeneratorOptions options;
  options.groups = {{count, "V100"}};
  return generate_flat(options).value();
}

/// For tests: a job that asks for one worker and may have up to `most`.
inline TraceJob elastic(std::uint64_t id, double submit, std::uint32_t most, double duration) {
  TraceJob job;
  job.submit = from_seconds(submit);
  job.spec.id = JobId{1, id};
  job.spec.min_workers = 1;
  job.spec.max_workers = most;
  job.spec.duration = from_seconds(duration);
  return job;
}

}  // namespace starling
