// SPDX-License-Identifier: Apache-2.0
#include "policies/smd/job_choices.h"

#include <algorithm>

#include "workload/requirements.h"

namespace starling {

TaskLimits JobChoices::limits_of(const JobSpec& job) const {
  TaskLimits limits;
  limits.least = job.elastic() ? std::max(job.min_workers, 1U) : job.workers;
  limits.most = job.elastic() ? job.max_workers : job.workers;
  limits.most_servers = std::max(job.run.max_servers, 1U);
  limits.gpus_per_worker = job.gpus_per_worker;
  limits.cpus_per_worker = job.cpus_per_worker;
  limits.cpus_per_server = job.run.max_servers > 0 ? job.run.server_cpus : 0;
  const std::uint32_t workers = options_.largest ? limits.most : job.workers;
  const TaskCounts all{workers, servers_at(job, workers)};
  limits.gpus = limits.gpus_of(all);
  limits.cpus = limits.cpus_of(all);
  return limits;
}

JobChoices::Kind JobChoices::make_kind(const ElasticCall& call, const JobSpec& job) const {
  Kind kind;
  kind.limits = limits_of(job);
  const TaskLimits& limits = kind.limits;
  if (job.run.max_servers > 0) {
    const PartitionLink link = partition_link(call.view.topology, call.empty.servers());
    kind.steps = layered_steps(job, call.view.topology, link);
    kind.asked_s = step_s(*kind.steps, limits, {job.workers, servers_at(job, job.workers)});
  }
  const std::uint64_t counts = std::uint64_t{limits.most - limits.least + 1} * limits.most_servers;
  const double eps =
      options_.grid_eps > 0 || counts <= kMostEnumerated ? options_.grid_eps : kFineEps;
  if (options_.menu) {
    // Without servers a step is only a name for how few workers there are.
    const LayeredSteps steps = kind.steps ? *kind.steps : LayeredSteps{1, 1, {{}}, 0, 0};
    kind.sizes = task_menu(steps, limits, kMenuEps, kMostInMenu);
  } else if (!kind.steps) {
    kind.sizes = {{options_.largest ? limits.most : job.workers, 1}};
  } else if (const auto best = eps > 0 ? best_tasks_on_grid(*kind.steps, limits, eps)
                                       : best_tasks(*kind.steps, limits)) {
    kind.sizes = {*best};
  }
  if (!kind.steps) {
    for (TaskCounts& size : kind.sizes) size.servers = 0;
  }
  return kind;
}

JobChoices::Kind& JobChoices::kind_of(const ElasticCall& call, const JobSpec& job) {
  const auto [known, fresh] =
      kinds_.try_emplace(Key(job.model, job.workers, job.min_workers, job.max_workers,
                             job.gpus_per_worker, job.cpus_per_worker, job.gpu_types, job.run));
  if (fresh) known->second = make_kind(call, job);
  return known->second;
}

const std::vector<TaskCounts>& JobChoices::sizes(const ElasticCall& call, const JobSpec& job) {
  return kind_of(call, job).sizes;
}

double JobChoices::rest_s(const Division& division, const ElasticCall& call,
                          const ElasticShare& share, TaskCounts size) {
  const Kind& kind = kind_of(call, *share.job->spec);
  if (!kind.steps) return speeds_.rest_s(division, call, share, size.workers);
  size.servers = std::max(size.servers, 1U);
  return share.left_s * step_s(*kind.steps, kind.limits, size) / kind.asked_s;
}

std::vector<double> JobChoices::needs(const JobSpec& job, TaskCounts size) {
  return {static_cast<double>(size.workers) * job.gpus_per_worker,
          size.workers * job.cpus_per_worker + size.servers * job.run.server_cpus};
}

std::vector<double> JobChoices::limit(const JobSpec& job) const {
  const TaskLimits limits = limits_of(job);
  return {limits.gpus, limits.cpus};
}

std::uint32_t JobChoices::servers_for(const ElasticCall& call, const JobSpec& job,
                                      std::uint32_t workers) {
  const Kind& kind = kind_of(call, job);
  if (!kind.steps) return 0;
  TaskLimits limits = kind.limits;
  limits.least = limits.most = workers;
  limits.gpus = std::max(limits.gpus, limits.gpus_of({workers, 1}));
  const auto best = best_tasks_on_grid(*kind.steps, limits, kFineEps);
  return best ? best->servers : servers_at(job, workers);
}

}  // namespace starling
