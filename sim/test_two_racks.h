// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "sim/test_registry.h"
#include "sim/world/world.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

namespace starling {

/// `count` jobs of one worker that last `each`, submitted `apart` from one another.
inline Trace equal_jobs(std::uint32_t count, Duration each, Duration apart) {
  Trace trace;
  trace.name = "small";
  for (std::uint32_t i = 0; i < count; ++i) {
    TraceJob job;
    job.submit = i * apart;
    job.spec.id = trace_job_id(i);
    job.spec.duration = each;
    trace.jobs.push_back(job);
  }
  return trace;
}

/// For tests: two racks of two servers of eight GPUs and two agents; each server has an executor of
/// its own, the network loses nothing, and the checker looks.
struct TwoRacks {
  explicit TwoRacks(Trace jobs, SimOptions options = {})
      : topology(generate_leaf_spine({.servers = 4, .servers_per_rack = 2}).value()),
        trace(std::move(jobs)) {
    options.agents = 2;
    options.servers_per_executor = 1;
    options.check = true;
    options.network = NetworkModel::lan();
    world = World::make(topology, trace, registry(), options).value();
  }
  void until(Duration when) const {
    for (bool more = true; more;) {
      const Result<bool> step = world->step_until(Instant(when));
      REQUIRE_MESSAGE(step.ok(), (step.ok() ? "" : step.error().message));
      more = step.value();
    }
  }
  /// Every job has finished then.
  void to_the_end() const {
    const Status ran = world->run();
    REQUIRE_MESSAGE(ran.ok(), (ran.ok() ? "" : ran.error().message));
    for (const TraceJob& job : trace.jobs) CHECK(world->end_of(job.spec.id) == JobPhase::finished);
  }

  Topology topology;
  Trace trace;
  std::unique_ptr<World> world;
};

}  // namespace starling
