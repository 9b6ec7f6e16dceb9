// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/slurm_environment.h"

#include <algorithm>
#include <cmath>

#include "workload/directory.h"
#include "workload/job_number.h"

namespace starling {
namespace {

bool by_slurms_names(const Names& names) {
  const auto mark = names.find("STARLING_SLURM");
  return mark != names.end() && mark->second == "1";
}

/// "4(x2),1", as Slurm writes how many tasks each node has.
std::string tasks_per_node(const std::vector<GangPart>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t last = i;
    while (last < parts.size() && parts[last].workers == parts[i].workers) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(parts[i].workers);
    if (last - i > 1) text += "(x" + std::to_string(last - i) + ")";
    i = last;
  }
  return text;
}

}  // namespace

void add_array(Names& names, const JobTerms& terms) {
  if (!terms.of_array()) return;
  names["STARLING_ARRAY_ID"] = to_string(terms.array);
  names["STARLING_ARRAY_TASK_ID"] = std::to_string(terms.task);
  names["STARLING_ARRAY_TASK_COUNT"] = std::to_string(terms.tasks);
  names["STARLING_ARRAY_TASK_MIN"] = std::to_string(terms.first_task);
  names["STARLING_ARRAY_TASK_MAX"] = std::to_string(terms.last_task);
}

void add_slurm(Names& names, const LaunchSpec& spec, const std::vector<GangPart>& parts,
               const Topology& topology) {
  if (!by_slurms_names(names)) return;
  const JobSpec& job = spec.spec;
  std::string nodes;
  for (const GangPart& part : parts)
    nodes += (nodes.empty() ? "" : ",") + topology.server(part.server).name;
  const std::string number = job_number(spec.attempt.job);
  const auto say = [&](std::initializer_list<const char*> all, const std::string& value) {
    for (const char* name : all) names[std::string("SLURM_") + name] = value;
  };
  say({"JOB_ID", "JOBID"}, number);
  say({"JOB_NAME"}, job.name);
  say({"JOB_USER"}, job.user);
  say({"JOB_PARTITION"}, job.queue.empty() ? "all" : job.queue);
  say({"CLUSTER_NAME"}, "starling");
  say({"SUBMIT_DIR"}, directory_of(job));
  say({"NTASKS", "NPROCS"}, names["WORLD_SIZE"]);
  say({"NNODES", "JOB_NUM_NODES"}, names["NNODES"]);
  say({"NODEID"}, names["NODE_RANK"]);
  say({"NODELIST", "JOB_NODELIST"}, nodes);
  say({"TASKS_PER_NODE"}, tasks_per_node(parts));
  say({"NTASKS_PER_NODE"}, names["LOCAL_WORLD_SIZE"]);
  say({"GPUS_ON_NODE"}, std::to_string(spec.gpus.size()));
  say({"JOB_GPUS"}, names["CUDA_VISIBLE_DEVICES"]);
  names["SLURMD_NODENAME"] = topology.server(spec.server).name;
  if (job.cpus_per_worker >= 1)
    say({"CPUS_PER_TASK"}, std::to_string(std::lround(std::floor(job.cpus_per_worker))));
  if (!job.terms.of_array()) return;
  say({"ARRAY_JOB_ID"}, job_number(job.terms.array));
  say({"ARRAY_TASK_ID"}, std::to_string(job.terms.task));
  say({"ARRAY_TASK_COUNT"}, std::to_string(job.terms.tasks));
  say({"ARRAY_TASK_MIN"}, std::to_string(job.terms.first_task));
  say({"ARRAY_TASK_MAX"}, std::to_string(job.terms.last_task));
}

void add_slurm_worker(Names& names) {
  if (!by_slurms_names(names)) return;
  names["SLURM_PROCID"] = names["RANK"];
  names["SLURM_LOCALID"] = names["LOCAL_RANK"];
}

}  // namespace starling
