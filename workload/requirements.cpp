// SPDX-License-Identifier: Apache-2.0
#include "workload/requirements.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace starling {

std::uint32_t servers_at(const JobSpec& job, std::uint32_t workers) {
  if (job.run.max_servers > 0) return std::min(workers, job.run.max_servers);
  return job.model.find("(parameter servers)") != std::string::npos ? workers : 0;
}

double cpus_of_worker(const JobSpec& job) {
  if (job.run.server_cpus <= 0) return job.cpus_per_worker;
  const std::uint32_t workers = std::max(job.elastic() ? job.min_workers : job.workers, 1U);
  return job.cpus_per_worker + job.run.server_cpus * servers_at(job, workers) / workers;
}

Demand demand_of(const JobSpec& job) {
  const double cpus = cpus_of_worker(job);
  if (cpus <= 0 && job.memory_gib_per_worker <= 0) return {};
  const auto part = [&](double of_worker) {
    const auto all = static_cast<std::int64_t>(std::llround(of_worker * 1e6));
    return std::max<std::int64_t>(all, 0) / std::max(job.gpus_per_worker, 1U);
  };
  return {part(cpus), part(job.memory_gib_per_worker)};
}

bool allows(const JobSpec& job, const Topology& topology, GpuTypeId type) {
  if (job.gpu_types.empty()) return true;
  if (type.value >= topology.gpu_types().size()) return false;
  return std::ranges::find(job.gpu_types, topology.gpu_types()[type.value].name) !=
         job.gpu_types.end();
}

bool allows(const JobSpec& job, const Topology& topology, ServerId server) {
  if (job.gpu_types.empty()) return true;
  const Server& s = topology.server(server);
  return s.gpus.size() > 0 && allows(job, topology, s.gpu_type);
}

}  // namespace starling
