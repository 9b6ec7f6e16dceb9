// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/check_input.h"

#include "workload/run_details.h"

namespace starling {
namespace {

constexpr double kMostCpus = 4096;
constexpr std::uint32_t kMostGpus = 1U << 20U;

}  // namespace

const char* wrong_with(const JobProfile& job) noexcept {
  // Also where it is no number.
  if (!(job.cpus_per_gpu >= 0 && job.cpus_per_gpu <= kMostCpus))
    return "cpus_per_gpu: not between 0 and 4096";
  if (job.gpus == 0 || job.gpus > kMostGpus) return "gpus: not between 1 and 1048576";
  if (job.asked > kMostGpus) return "asked: more than 1048576 GPUs";
  if (job.parameter_servers > kMostGpus) return "parameter_servers: more than 1048576";
  if (job.asked_servers > kMostGpus || job.running_servers > RunDetails::kMost)
    return "servers: more than 1048576 asked or 10000000 running";
  // Also where it is no number.
  if (!(job.server_cpus >= 0 && job.server_cpus <= kMostCpus))
    return "server_cpus: not between 0 and 4096";
  return nullptr;
}

}  // namespace starling
