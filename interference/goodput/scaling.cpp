// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/scaling.h"

namespace starling {
namespace {

double goodput_of(const GoodputProfile& profile, BatchRule rule, double batch,
                  const StepShape& where, double done) {
  if (where.replicas == 0) return 0;
  const BatchLimits& limits = profile.limits;
  if (rule == BatchRule::best)
    return best_batch(profile.time, profile.noise, limits, where, done).goodput;
  const double all = rule == BatchRule::weak ? batch * where.replicas : batch;
  if (all < where.replicas || all > limits.largest) return 0;
  const BatchSplit split = split_batch(all, where.replicas, limits);
  return goodput(
      profile.time, profile.noise, done,
      {split.local_batch, split.accumulation, where.replicas, where.servers, where.tier});
}

}  // namespace

double goodput_scaling(const GoodputProfile& profile, BatchRule rule, double batch,
                       const StepShape& where, double done) noexcept {
  const double one = goodput_of(profile, rule, batch, {1, 0, 1, 1, Tier::island}, done);
  return one > 0 ? goodput_of(profile, rule, batch, where, done) / one : 0;
}

double training_efficiency(const NoiseScale& noise, double asked, double batch) noexcept {
  const auto at = [&](double done, double samples) {
    return statistical_efficiency(noise.phi(done, samples), noise.own_batch, samples);
  };
  double time = 0;
  double from = 0;
  for (const double to : kNoiseParts) {
    const double middle = (from + to) / 2;
    time += (to - from) * at(middle, asked) / at(middle, batch);
    from = to;
  }
  return 1 / time;
}

double doubling_gain(double phi, double batch) noexcept { return step_gain(phi, batch, 2 * batch); }

}  // namespace starling
