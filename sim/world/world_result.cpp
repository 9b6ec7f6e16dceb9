// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/world/world_parts.h"
#include "topology/placement_text.h"

namespace starling {
namespace {

double seconds_at(Instant at) { return at == kNever ? -1 : seconds(at.time_since_epoch()); }

JobRow row_of(const TraceJob& job, const JobTruth& truth, const JobOutcome& outcome) {
  JobRow row;
  row.job = job.spec.id;
  row.name = job.spec.name;
  row.submit_s = seconds(job.submit);
  row.start_s = seconds_at(truth.first_start);
  row.state = outcome.rejected ? JobPhase::failed : outcome.state.phase;
  // A finished job was done when its work was; others end when their user is told.
  row.finish_s = seconds_at(row.state == JobPhase::finished ? truth.completed : outcome.ended);
  row.gpus = truth.gpus;
  row.model = job.spec.model;
  row.agent = outcome.home.value;
  row.placement = placement_text(truth.placement);
  row.attempts = truth.attempts;
  row.forwards = outcome.state.forwards;
  row.preemptions = outcome.state.preemptions;
  row.service_s = seconds(truth.service);
  row.duration_s = seconds(truth.duration);
  return row;
}

}  // namespace

void AgentTotals::add(const AgentStatus& status) {
  preemptions += status.preemptions;
  resizes += status.resizes;
  forwards += status.forwards;
  cross_partition_gangs += status.cross_partition_gangs;
  decisions += status.decisions;
  weighted_p50_us +=
      static_cast<double>(status.decision_p50_us) * static_cast<double>(status.decisions);
  p99_us = std::max(p99_us, static_cast<double>(status.decision_p99_us));
}

AgentTotals World::Parts::totals() const {
  AgentTotals all = past;
  for (std::size_t a = 0; a < agent_configs.size(); ++a) {
    if (const Agent* agent = agent_core(a)) all.add(agent->status());
  }
  return all;
}

RunResult World::result() const {
  const Parts& p = *parts_;
  const AgentTotals totals = p.totals();
  RunResult run;
  run.policy = p.policy_name;
  run.family = std::string(1, static_cast<char>(p.facts.family));
  run.topology = p.topology.name();
  run.workload = p.trace.name;
  run.mode = "sim";
  run.gpus = p.topology.gpu_count();
  run.servers = p.topology.server_count();
  run.agents = static_cast<std::uint32_t>(p.agent_configs.size());
  run.seed = p.options.seed;
  run.jobs.reserve(p.trace.jobs.size());
  for (std::size_t i = 0; i < p.trace.jobs.size(); ++i) {
    const TraceJob& job = p.trace.jobs[i];
    const JobOutcome* outcome = p.users->find(job.spec.id);
    run.jobs.push_back(row_of(job, p.hardware->jobs()[i], *outcome));
  }
  const auto earlier = [](const JobRow& a, const JobRow& b) { return a.submit_s < b.submit_s; };
  if (!std::is_sorted(run.jobs.begin(), run.jobs.end(), earlier))
    std::stable_sort(run.jobs.begin(), run.jobs.end(), earlier);
  run.timeline = p.timeline.points();
  run.preemptions = totals.preemptions;
  run.resizes = totals.resizes;
  run.forwards = totals.forwards;
  run.cross_partition_gangs = totals.cross_partition_gangs;
  run.decisions = totals.decisions;
  if (totals.decisions > 0) {
    run.decision_p50_us = totals.weighted_p50_us / static_cast<double>(totals.decisions);
  }
  run.decision_p99_us = totals.p99_us;
  run.messages = p.messages;
  run.events = p.events;
  run.wall_s = seconds(p.wall.now() - p.wall_start);
  run.trace_hash = p.hash.value();
  return run;
}

}  // namespace starling
