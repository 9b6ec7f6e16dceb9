// SPDX-License-Identifier: Apache-2.0
// Gangs that share links of the network, through real agents and the simulated hardware.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "sim/simulate.h"
#include "sim/test_registry.h"
#include "topology/generate/generate.h"
#include "topology/placement_text.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Racks of 16 GPUs on 2 servers, with one uplink of a NIC's speed.
Topology narrow() {
  GeneratorOptions options;
  options.servers = 8;
  options.servers_per_rack = 2;
  options.spines = 1;
  options.nic_gbps = 25;
  options.uplink_gbps = 25;
  options.cpus = 256;
  return generate_leaf_spine(options).value();
}

TraceJob gang(std::uint32_t i, Duration submit, std::uint32_t gpus, Duration duration) {
  TraceJob one;
  one.submit = submit;
  one.spec.id = trace_job_id(i);
  one.spec.model = "vgg16";
  one.spec.workers = gpus;
  one.spec.duration = duration;
  return one;
}

Trace crowd(std::uint32_t jobs, std::uint32_t largest) {
  Rng rng(9);
  Trace trace;
  trace.name = "crowd";
  Duration at{0};
  for (std::uint32_t i = 0; i < jobs; ++i) {
    at += std::chrono::milliseconds(rng.below(60'000));
    const std::uint32_t gpus = std::min(largest, 1U << rng.below(6));
    trace.jobs.push_back(gang(i, at, gpus, std::chrono::seconds(100 + rng.below(900))));
  }
  return trace;
}

RunResult run(const Topology& topology, const Trace& trace, NetworkKind links,
              std::uint32_t agents = 1, const char* policy = "fifo:queue=skip") {
  SimOptions options;
  options.policy = policy;
  options.agents = agents;
  options.servers_per_executor = 2;
  options.check = true;
  options.physics = PhysicsKind::full;
  options.links = links;
  options.network = NetworkModel::lan();
  Result<RunResult> result = simulate(topology, trace, registry(), options);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(figures(result.value()).finished == trace.jobs.size());
  return std::move(result).value();
}

}  // namespace

TEST_CASE("a gang that comes slows one that it meets on an uplink alone, until it ends") {
  // Together all servers, whole ones each: one rack at least has servers of both, and one uplink.
  const Topology topology = narrow();
  Trace both;
  both.jobs = {gang(0, 0s, 40, 2000s), gang(1, 500s, 24, 500s)};
  Trace first;
  first.jobs = {both.jobs[0]};
  const auto end = [&](const Trace& trace, NetworkKind links) {
    return run(topology, trace, links).jobs[0].finish_s;
  };
  const RunResult placed = run(topology, both, NetworkKind::flows);
  CHECK(end(both, NetworkKind::even) == end(first, NetworkKind::even));
  const double alone = end(first, NetworkKind::flows);
  const double beside = end(both, NetworkKind::flows);
  CHECK(beside > alone + 50);
  CHECK(beside < alone + (placed.jobs[1].finish_s - placed.jobs[1].start_s));
  CHECK(end(both, NetworkKind::phases) <= beside);
}

TEST_CASE("where no gang leaves its rack the world is that of full, to the last event") {
  const Topology topology = narrow();
  const Trace trace = crowd(80, 8);
  const char* policy = "fifo:fit=server";
  for (const std::uint32_t agents : {1U, 4U}) {
    CAPTURE(agents);
    const RunResult even = run(topology, trace, NetworkKind::even, agents, policy);
    for (const JobRow& job : even.jobs) {
      Placement gpus;
      for (const IndexRange& range : gpu_ranges(job.placement)) {
        for (std::uint32_t g = range.first; g < range.last; ++g) gpus.emplace_back(g);
      }
      REQUIRE(gpus.size() == job.gpus);
      REQUIRE(topology.tier_of(gpus) < Tier::network);
    }
    CHECK(run(topology, trace, NetworkKind::flows, agents, policy).trace_hash == even.trace_hash);
    CHECK(run(topology, trace, NetworkKind::phases, agents, policy).trace_hash == even.trace_hash);
  }
}

TEST_CASE("flows: same seed, same run, with one agent and with four") {
  const Topology topology = narrow();
  const Trace trace = crowd(80, 32);
  for (const std::uint32_t agents : {1U, 4U}) {
    CAPTURE(agents);
    for (const NetworkKind links : {NetworkKind::flows, NetworkKind::phases}) {
      const std::uint64_t once = run(topology, trace, links, agents).trace_hash;
      CHECK(once == run(topology, trace, links, agents).trace_hash);
      CHECK(once != run(topology, trace, NetworkKind::even, agents).trace_hash);
    }
  }
}

TEST_CASE("flows are written as they are read, and phases only with them") {
  for (const char* text : {"full:network=flows", "full:network=flows,phases",
                           "full:stragglers=0.1,goodput,network=flows,phases"}) {
    const auto choice = parse_physics(text);
    REQUIRE(choice.ok());
    CHECK(text_of(choice.value()) == text);
  }
  CHECK(parse_physics("full:phases,network=flows").value().network == NetworkKind::phases);
  const auto has = [](const char* text, const char* what) {
    const auto choice = parse_physics(text);
    return !choice.ok() && choice.error().message.find(what) != std::string::npos;
  };
  CHECK(has("full:phases", "add network=flows"));
  CHECK(has("full:network=fair", "full:network=flows"));
  CHECK(has("trace:network=flows", "full:network=flows"));
}

}  // namespace starling
