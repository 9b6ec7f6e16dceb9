// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/goodput.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

// Quotients that are whole but for rounding stay what they are.
double up(double value) { return std::ceil(value - 1e-8); }

}  // namespace

BatchSplit split_batch(double batch, std::uint32_t replicas, const BatchLimits& limits) noexcept {
  const double local = up(batch / replicas);
  auto accumulation = static_cast<std::uint32_t>(std::max(up(local / limits.most_local) - 1, 0.0));
  if (replicas == 1 && batch > limits.own) accumulation = std::max(accumulation, 1U);
  const double gradients = accumulation + 1.0;
  const double room = std::floor(limits.largest / (replicas * gradients) + 1e-8);
  return {std::max(1.0, std::min(up(local / gradients), room)), accumulation};
}

double goodput(const StepTime& time, const NoiseScale& noise, double done,
               const StepShape& shape) noexcept {
  const double batch = shape.batch();
  return time.throughput(shape) *
         statistical_efficiency(noise.phi(done, batch), noise.own_batch, batch);
}

BatchChoice best_batch(const StepTime& time, const NoiseScale& noise, const BatchLimits& limits,
                       const StepShape& where, double done) noexcept {
  return best_split(limits, where.replicas, [&](const BatchSplit& split) {
    return goodput(
        time, noise, done,
        {split.local_batch, split.accumulation, where.replicas, where.servers, where.tier});
  });
}

double goodput(const StepTime& time, double phi, double own_batch,
               const StepShape& shape) noexcept {
  const double efficiency = phi > 0 ? statistical_efficiency(phi, own_batch, shape.batch()) : 1;
  return time.throughput(shape) * efficiency;
}

BatchChoice best_batch(const StepTime& time, double phi, const BatchLimits& limits,
                       const StepShape& where) noexcept {
  StepShape shape = where;
  return best_split(limits, where.replicas, [&](const BatchSplit& split) {
    shape.local_batch = split.local_batch;
    shape.accumulation = split.accumulation;
    return goodput(time, phi, limits.own, shape);
  });
}

}  // namespace starling
