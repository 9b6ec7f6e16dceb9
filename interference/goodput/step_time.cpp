// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/step_time.h"

#include <cmath>

#include "interference/overlap.h"

namespace starling {

double StepTime::sync_s(std::uint32_t replicas, Tier tier) const noexcept {
  if (replicas < 2) return 0;
  const ReduceTime& reduce = tier == Tier::network ? network : tier == Tier::rack ? rack : server;
  return reduce.two_s + reduce.growth_s * std::pow(replicas - 2.0, bend);
}

double StepTime::step_s(const StepShape& shape) const noexcept {
  const double grad = grad_s(shape.local_batch);
  return shape.accumulation * grad + overlapped(grad, sync_s(shape.replicas, shape.tier), gamma);
}

}  // namespace starling
