// SPDX-License-Identifier: Apache-2.0
// What a guardian is told of its part, and where the part's files are.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/parts/gang_layout.h"
#include "launch/guardian/part_cgroup.h"
#include "launch/launchers/process_launcher.h"
#include "launch/launchers/worker_environment.h"
#include "workload/requirements.h"

namespace starling {
namespace {

std::string dotted(AttemptId attempt) {
  std::string name = to_string(attempt);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

}  // namespace

ServerLabel ProcessLauncher::label(ServerId server) const {
  // A reader of output names any.
  if (server.value >= topology_.server_count()) return {"none", "none-", 0};
  return options_.label ? options_.label(server) : plain_label(topology_, server);
}

std::string ProcessLauncher::file_name(AttemptId attempt, ServerId server) const {
  return dotted(attempt) + ".s" + label(server).server;
}

std::string ProcessLauncher::mark(const Key& key) const {
  return options_.logs.string() + ":" + to_string(key.first) + ":" + label(key.second).server;
}

std::filesystem::path ProcessLauncher::folder_of(const Key& key) const {
  return options_.parts / file_name(key.first, key.second);
}

std::filesystem::path ProcessLauncher::log_file(AttemptId attempt, ServerId server) const {
  return options_.logs / (file_name(attempt, server) + ".log");
}

std::int64_t ProcessLauncher::on_machine(Instant at) const {
  if (at == kNever) return kNoDeadline;
  const auto ahead = static_cast<double>((at - clock_.now()).count()) / options_.speedup;
  return boot_ns() + static_cast<std::int64_t>(ahead);
}

Duration ProcessLauncher::here(std::int64_t ns) const {
  return Duration(static_cast<std::int64_t>(static_cast<double>(ns) * options_.speedup));
}

ProcessLauncher::Part ProcessLauncher::part_of(const LaunchSpec& spec, GuardedPart guarded) const {
  Part part(std::move(guarded));
  part.gpus = spec.gpus;
  part.started = clock_.now() - here(boot_ns() - part.guarded.plan().made_ns);
  part.log = log_file(spec.attempt, spec.server);
  if (spec.first_rank != 0) return part;
  part.steps = steps_file(part.guarded.plan(), part.log);
  std::size_t gpus = 0;
  for (const Share& share : spec.gang) gpus += share.gpus.size();
  part.resized = gpus != spec.spec.gpus();
  const Allocation& how = spec.allocation;
  const std::uint64_t batch =
      std::uint64_t{how.workers} * how.local_batch * (how.accumulation + 1U);
  part.batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(batch, Progress::kMostBatch));
  part.whole = gang_layout(spec.gang, spec.spec.gpus_per_worker, topology_).size() <= 1;
  return part;
}

/// In proportion to the GPUs that the job has here, as its placement was counted.
void ProcessLauncher::limit(const LaunchSpec& spec, const std::string& cgroup, bool make) {
  const double workers =
      static_cast<double>(spec.gpus.size()) / std::max(spec.spec.gpus_per_worker, 1U);
  const PartLimits limits{workers * cpus_of_worker(spec.spec),
                          workers * spec.spec.memory_gib_per_worker};
  if (limits.cpus <= 0 && limits.memory_gib <= 0) return;
  PartCgroup::Limited got{limits.cpus <= 0, limits.memory_gib <= 0};
  if (!cgroup.empty()) got = PartCgroup::limit(cgroup, limits, make);
  if (got.memory || std::exchange(said_unlimited_, true) || !options_.notice) return;
  options_.notice(
      "memory_gib of jobs is counted here and not enforced: there is no cgroup (v2) in "
      "which this process may limit memory; CPUs are given by affinity");
}

PartPlan ProcessLauncher::plan_of(const LaunchSpec& spec, const JobLogin* login) {
  const Key key{spec.attempt, spec.server};
  PartPlan plan;
  plan.mark = mark(key);
  plan.until_ns = on_machine(spec.until);
  plan.grace_ns =
      static_cast<std::int64_t>(static_cast<double>(spec.grace.count()) / options_.speedup);
  plan.command = spec.spec.command;
  plan.log = log_file(spec.attempt, spec.server);
  plan.log_bytes = options_.log_limits.part_bytes;
  plan.tail_bytes = options_.log_tail_bytes;
  if (!cgroups_.empty()) {
    plan.cgroup = cgroups_ + "/starling-" + std::to_string(::getpid()) + "-" +
                  file_name(spec.attempt, spec.server);
  }
  limit(spec, plan.cgroup);
  const std::uint32_t first = topology_.server(spec.server).gpus.first;
  const ServerLabel called = label(spec.server);
  for (const GpuId gpu : spec.gpus) {
    plan.gpu_ids.push_back(gpu.value);
    plan.gpus.push_back(gpu.value - first);
    if (!options_.gpu_locks.empty())
      plan.gpu_locks.push_back(
          options_.gpu_locks /
          ("gpu-" + called.gpus + std::to_string(called.first_gpu + (gpu.value - first))));
  }
  plan.slots = options_.jobs_per_gpu;
  const double cpus = std::ceil(std::max(cpus_of_worker(spec.spec), 0.0));
  std::string steps;
  if (login != nullptr) plan.user = login->ids;
  if (spec.first_rank == 0) {
    steps = login == nullptr
                ? std::filesystem::path(plan.log).replace_extension(".steps").string()
                : steps_folders_.make(file_name(spec.attempt, spec.server), login->ids).string();
  }
  for (auto& environment :
       worker_environments(spec, topology_, {plan.mark, steps, options_.address, login})) {
    plan.workers.push_back(
        {std::move(environment), cpus_.take(static_cast<std::size_t>(std::min(cpus, 4096.0)))});
  }
  return plan;
}

}  // namespace starling
