// SPDX-License-Identifier: Apache-2.0
#include "workload/generate/check_size.h"

#include <string>

namespace starling {

Status check_jobs(std::uint32_t jobs) {
  constexpr std::uint32_t kMost = 10'000'000;
  if (jobs < 1 || jobs > kMost)
    return {Errc::invalid, "jobs must be 1 to " + std::to_string(kMost)};
  return done();
}

Status check_size(std::uint32_t jobs, std::uint32_t cluster_gpus, double load,
                  double max_duration_s) {
  if (Status good = check_jobs(jobs); !good.ok()) return good;
  if (cluster_gpus < 1) return {Errc::invalid, "cluster_gpus must be at least 1"};
  if (!(load > 0) || load > 1000) return {Errc::invalid, "load must be above 0 and at most 1000"};
  if (!(max_duration_s >= 1) || max_duration_s > 1e8)
    return {Errc::invalid, "max_duration_s must be 1 to 100000000"};
  return done();
}

}  // namespace starling
