// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/step_time.h"

#include <cmath>

#include "interference/overlap.h"

namespace starling {

double StepTime::sync_s(const StepShape& shape) const noexcept {
  if (shape.replicas < 2) return 0;
  const ReduceTime& reduce = shape.tier == Tier::network ? network
                             : shape.tier == Tier::rack  ? rack
                                                         : server;
  const double replicas = shape.replicas;
  const double crowd = shape.servers > 1 ? crowd_s * (replicas / shape.servers - 1) : 0;
  return reduce.two_s + reduce.growth_s * std::pow(replicas - 2, bend) + crowd;
}

double StepTime::step_s(const StepShape& shape) const noexcept {
  const double grad = grad_s(shape.local_batch);
  return shape.accumulation * grad + overlapped(grad, sync_s(shape), gamma);
}

}  // namespace starling
