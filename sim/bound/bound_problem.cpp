// SPDX-License-Identifier: Apache-2.0
#include "sim/bound/bound_problem.h"

#include "interference/models.h"
#include "policies/rank/rank_curves.h"
#include "scheduling/packing.h"
#include "topology/occupancy.h"

namespace starling {
namespace {

/// One that knows the future knows which types are fast; these prices are as good as those of rank.
constexpr double kTypePower = 0.6;

}  // namespace

BoundProblem bound_problem(const Topology& topology, const Trace& trace, const Physics& physics) {
  BoundProblem problem;
  const Occupancy empty(topology, {0, topology.server_count()});
  const auto speed = make_true_speed(physics);
  const View view{topology, empty, {}, {}, {}, *speed, Instant{}, AgentId{0}};
  const Shape shape = shape_of(empty);
  problem.cost = type_costs(topology, kTypePower);
  problem.gpus.assign(topology.gpu_types().size(), 0);
  for (const Server& server : topology.servers()) {
    if (server.gpus.size() > 0) problem.gpus[server.gpu_type.value] += server.gpus.size();
  }
  RankCurves curves;
  for (const TraceJob& job : trace.jobs) {
    const auto speeds = curves.of(view, shape, empty, job.spec);
    if (speeds->needs_types) ++problem.others;
    if (speeds->never() || speeds->needs_types) continue;
    problem.jobs.push_back(
        {seconds(job.submit), seconds(job.spec.duration), speeds->least_gpu_s, speeds->sizes});
  }
  return problem;
}

}  // namespace starling
