// SPDX-License-Identifier: Apache-2.0
#include "gnn/pair_speeds.h"

#include <algorithm>

#include "base/hash.h"
#include "gnn/speed_memo.h"
#include "interference/memory.h"

namespace starling {
namespace {

constexpr double kLeastSpeed = 1e-6;

}  // namespace

PairSpeeds::PairSpeeds(const Topology& topology, const SpeedModel& speed)
    : topology_(topology), speed_(speed), gpus_(topology.gpu_types().size()) {
  for (const Server& server : topology.servers()) {
    for (std::uint32_t gpu = server.gpus.first; gpu < server.gpus.last; ++gpu) {
      gpus_[server.gpu_type.value].emplace_back(gpu);
    }
  }
}

Placement PairSpeeds::first_gpus(GpuTypeId type, std::uint32_t count) const {
  const Placement& all = gpus_[type.value];
  return {all.begin(), all.begin() + std::min<std::ptrdiff_t>(count, std::ssize(all))};
}

double PairSpeeds::alone(const JobProfile& job, GpuTypeId type) {
  const auto [at, fresh] =
      alone_.try_emplace(mix64(SpeedMemo::hash_of(job) + mix64(type.value)), 0.0);
  if (!fresh) return at->second;
  const Placement placement = first_gpus(type, job.gpus);
  if (placement.size() == job.gpus) at->second = speed_.speed(job, placement, {}).relative;
  return at->second;
}

const PairSpeeds::Pair& PairSpeeds::pair(const JobProfile& newcomer, const JobProfile& other,
                                         GpuTypeId type) {
  const std::uint64_t key =
      mix64(SpeedMemo::hash_of(newcomer) + mix64(SpeedMemo::hash_of(other) + type.value));
  const auto [at, fresh] = pairs_.try_emplace(key);
  Pair& pair = at->second;
  if (!fresh) return pair;
  Neighbour it{other, first_gpus(type, other.gpus)};
  Neighbour self{newcomer, first_gpus(type, newcomer.gpus)};
  if (it.placement.empty() || self.placement.size() < newcomer.gpus) return pair;
  pair.fits = fits_together(newcomer, other, topology_, self.placement.front());
  if (!pair.fits) return pair;
  const auto speed = [this](const Neighbour& who, const Neighbours& beside) {
    return std::max(speed_.speed(who.job, who.placement, beside).relative, kLeastSpeed);
  };
  const double own = speed(self, {it});
  const double before = speed(it, {}), after = speed(it, {self});
  pair.own = static_cast<float>(own);
  pair.loss = static_cast<float>(other.gpus * (before - after));
  pair.slower = static_cast<float>(1 / after - 1 / before);
  pair.gain = static_cast<float>(newcomer.gpus * own - other.gpus * (before - after));
  pair.slowdown = static_cast<float>(1 / own - 1 + 1 / after - 1 / before);
  return pair;
}

void PairSpeeds::forget() {
  pairs_.clear();
  alone_.clear();
}

}  // namespace starling
