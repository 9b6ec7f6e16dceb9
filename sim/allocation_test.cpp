// SPDX-License-Identifier: Apache-2.0
// Jobs whose policy also decides how they run, in whole flocks with the checker looking on.
#include <doctest/doctest.h>

#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/traces/test_trace.h"

namespace starling {
namespace {

Topology cluster() { return generate_flat({.servers = 4, .gpus_per_server = 4}).value(); }

Trace growing() {
  Trace trace = test_trace({.jobs = 40, .seed = 3, .gap_s = 1500, .least_s = 600, .more_s = 6000});
  for (TraceJob& job : trace.jobs) {
    job.spec.model = job.spec.id.lo % 2 == 0 ? "bert-base" : "neumf";
    job.spec.min_workers = 1;
    job.spec.max_workers = 8;
  }
  return trace;
}

SimOptions options(const char* policy) {
  SimOptions options;
  options.policy = policy;
  options.physics = PhysicsKind::full;
  options.goodput = true;
  options.agents = 2;
  options.servers_per_executor = 1;
  options.check = true;
  return options;
}

RunFigures run(const SimOptions& options) {
  const Result<RunResult> result = simulate(cluster(), growing(), make_policy_registry(), options);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  return figures(result.value());
}

TEST_CASE("processes run by the allocation that was decided, and so end sooner") {
  const double asked = run(options("optimus")).avg_jct_s;
  for (const bool lossy : {false, true}) {
    CAPTURE(lossy);
    SimOptions free = options("optimus:batch=free");
    if (lossy) free.network = NetworkModel::lan();
    const RunFigures figures = run(free);
    CHECK(figures.finished == 40);
    CHECK(figures.avg_jct_s < 0.95 * asked);
    MESSAGE("JCT " << figures.avg_jct_s << " s, as asked " << asked << " s");
  }
}

TEST_CASE("where nodes speak an earlier protocol jobs run as they ask, and all end") {
  const SimOptions newest = options("optimus:batch=free");
  const auto with = [&](std::vector<NodeId> nodes, bool lossy) {
    SimOptions mixed = newest;
    if (lossy) mixed.network = NetworkModel::lan();
    for (std::uint32_t a = 0; a < 2; ++a)  // they know allocations, and tell no prices
      mixed.protocols[agent_node(AgentId{a})] = kAllocationProtocol;
    for (const NodeId node : nodes) mixed.protocols[node] = 3;
    const RunFigures figures = run(mixed);
    CHECK(figures.finished == 40);
    return figures.avg_jct_s;
  };
  for (const bool lossy : {false, true}) {
    CAPTURE(lossy);
    const double all_new = with({}, lossy);
    const double one_old = with({executor_node(1)}, lossy);
    const double all_old =
        with({executor_node(0), executor_node(1), executor_node(2), executor_node(3)}, lossy);
    const double old_agents = with({agent_node(AgentId{0}), agent_node(AgentId{1})}, lossy);
    MESSAGE("JCT " << all_new << " s; one executor is older: " << one_old << " s, all of them "
                   << all_old << " s, both agents " << old_agents << " s");
    CHECK(one_old > all_new);
    CHECK(all_old > one_old);
    CHECK(old_agents == doctest::Approx(all_old).epsilon(0.02));
  }
}

}  // namespace
}  // namespace starling
