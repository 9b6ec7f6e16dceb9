// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/job_goodput.h"

#include <algorithm>
#include <cmath>

namespace starling {

StepShape JobGoodput::shape(std::uint32_t servers, std::uint32_t gpus) const noexcept {
  StepShape where;
  where.replicas = gpus;
  where.servers = servers;
  where.tier = servers > rack ? Tier::network : servers > 1 ? Tier::rack : Tier::server;
  return where;
}

BatchChoice JobGoodput::at(std::uint32_t servers, std::uint32_t gpus) const noexcept {
  if (own_local <= 0) return best_batch(time, phi, limits, shape(servers, gpus));
  const BatchSplit split{own_local, 0};
  return {split, with(servers, gpus, split)};
}

double JobGoodput::with(std::uint32_t servers, std::uint32_t gpus,
                        const BatchSplit& split) const noexcept {
  StepShape where = shape(servers, gpus);
  where.local_batch = split.local_batch;
  where.accumulation = split.accumulation;
  return goodput(time, phi, limits.own, where);
}

std::uint32_t JobGoodput::most_gpus() const noexcept {
  if (own_local > 0) return ~0U;
  return static_cast<std::uint32_t>(std::floor(limits.largest / limits.least_local));
}

std::uint32_t fair_replicas(std::uint32_t gpus, std::uint32_t gpus_per_replica,
                            std::size_t jobs) noexcept {
  const double each = static_cast<double>(gpus) / gpus_per_replica / static_cast<double>(jobs);
  return std::max(1U, static_cast<std::uint32_t>(std::ceil(each - 1e-9)));
}

}  // namespace starling
