// SPDX-License-Identifier: Apache-2.0
// What stands beside a live run has to wait as that does: with turns, which keep GPUs free for a
// gang that others pass by.
#include "launch/runs/as_live.h"

#include <doctest/doctest.h>

#include "policies/registry.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

using std::chrono::seconds;

constexpr std::uint32_t kSmall = 100;

/// Jobs of 2,000 s on a whole server each, one every 900 s, so that of two servers one is always
/// taken; the gang, the second to come, needs both.
Trace stream_and_gang() {
  Trace trace;
  trace.name = "stream";
  for (std::uint32_t i = 0; i < kSmall; ++i) {
    TraceJob job;
    job.submit = seconds(900 * i + (i == 1 ? 1 : 0));
    job.spec.id = trace_job_id(i);
    job.spec.duration = seconds(2000);
    job.spec.gpus_per_worker = 4;
    if (i == 1) job.spec.workers = 2;
    trace.jobs.push_back(job);
  }
  return trace;
}

/// When the gang starts, in seconds.
double start_of_gang(const SimOptions& options) {
  const Topology topology = generate_flat({.servers = 2, .gpus_per_server = 4}).value();
  const RunResult run =
      simulate(topology, stream_and_gang(), make_policy_registry(), options).value();
  return run.jobs.at(1).start_s;
}

TEST_CASE("a gang that a stream passes by waits beside a live run as it does live") {
  SimOptions options;
  options.policy = "consolidate";
  CHECK(start_of_gang(options) > 900 * (kSmall - 1));
  CHECK(start_of_gang(as_live(options, false, 100)) < 4 * 3600);
  options.network = NetworkModel::lan();
  CHECK(start_of_gang(as_live(options, true, 100)) < 4 * 3600);
}

TEST_CASE("a loopback's messages and timers take so much longer in trace time") {
  SimOptions options;
  const SimOptions live = as_live(options, false, 100);
  CHECK(live.network.delay == std::chrono::milliseconds(30));
  CHECK(live.timers.heartbeat == 100 * options.timers.heartbeat);
  options.network = NetworkModel::lan();
  CHECK(as_live(options, true, 100).network.delay == NetworkModel::lan().delay);
}

}  // namespace
}  // namespace starling
