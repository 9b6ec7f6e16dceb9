// SPDX-License-Identifier: Apache-2.0
// What executors say of the gangs that they run.
#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "base/rng.h"
#include "interference/pace/pace.h"
#include "sim/world/hardware.h"

namespace starling {

std::vector<Progress> Hardware::measure(std::uint32_t executor) {
  std::vector<Progress> all;
  if (!physics_->varies()) return all;  // time tells as much
  for (const auto& [attempt, index] : there_[executor]) {
    Gang& gang = gangs_[index];
    if (!gang.moving) continue;
    account(gang);
    const bool starts = clock_.now() < gang.work.counted_to();
    all.push_back({attempt, gang.work.done(), starts ? 0 : measured(gang)});
    if (starts) continue;
    const double length = seconds(jobs_[gang.row].duration);
    const double part = seconds(gang.before + gang.work.done()) / std::max(length, 1e-9);
    const auto said = gradient_report(profiles_.at(index), gang.gpus.size(), gang.allocation, part);
    all.back().noise = said.noise;
    all.back().batch = said.batch;
  }
  return all;
}

double Hardware::measured(const Gang& gang) const {
  if (noise_ <= 0) return gang.work.rate() * bias_;
  const AttemptId& id = gang.attempt;
  std::uint64_t seed = mix64(noise_seed_ ^ id.job.hi);
  for (const std::uint64_t word :
       {id.job.lo, id.number, static_cast<std::uint64_t>(clock_.now().time_since_epoch().count())})
    seed = mix64(seed ^ word);
  return gang.work.rate() * bias_ * std::exp(noise_ * Rng(seed).normal());
}

}  // namespace starling
