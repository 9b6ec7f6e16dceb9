// SPDX-License-Identifier: Apache-2.0
#include "sim/published/muri/muri_policies.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

constexpr std::array<double, 2> kQueueLimits = {3250, 7200};  ///< GPU seconds

/// Free GPUs, server by server.
using MuriServers = std::array<std::uint32_t, kMuriServers>;

bool take(MuriServers& free, std::uint32_t gpus) {
  if (gpus <= kMuriServerGpus) {
    const auto server =
        std::find_if(free.begin(), free.end(), [&](std::uint32_t left) { return left >= gpus; });
    if (server == free.end()) return false;
    *server -= gpus;
    return true;
  }
  const std::uint32_t rest = gpus % kMuriServerGpus;
  MuriServers after = free;
  std::uint32_t whole = gpus / kMuriServerGpus;
  for (std::uint32_t& left : after) {
    if (whole == 0 || left < kMuriServerGpus) continue;
    left = 0;
    --whole;
  }
  if (whole > 0 || (rest > 0 && !take(after, rest))) return false;
  free = after;
  return true;
}

}  // namespace

void MuriShortest::choose(double /*now_s*/, std::vector<MuriJob*>& jobs) {
  // Stable, and quick where little has moved: only those that ran have less left than before.
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    MuriJob* const job = jobs[i];
    const double its = key(*job);
    std::size_t at = i;
    for (; at > 0 && key(*jobs[at - 1]) > its; --at) jobs[at] = jobs[at - 1];
    jobs[at] = job;
  }
  MuriServers free;
  free.fill(kMuriServerGpus);
  for (MuriJob* job : jobs) job->runs = take(free, job->gpus);
}

void MuriTiresias::choose(double /*now_s*/, std::vector<MuriJob*>& jobs) {
  for (MuriJob* job : jobs) {
    if (!job->runs || job->queue >= kQueueLimits.size()) continue;
    if (job->executed_s * job->gpus < kQueueLimits[job->queue]) continue;
    std::erase(queues_[job->queue], job);
    queues_[++job->queue].push_back(job);
  }
  std::uint32_t free = kMuriServers * kMuriServerGpus;
  for (auto& queue : queues_) {
    for (MuriJob* job : queue) {
      job->runs = job->gpus <= free;
      if (job->runs) free -= job->gpus;
    }
    std::stable_partition(queue.begin(), queue.end(), [](const MuriJob* job) { return job->runs; });
  }
}

std::optional<double> MuriTiresias::next_change_s(double now_s,
                                                  const std::vector<MuriJob*>& jobs) const {
  std::optional<double> next;
  for (const MuriJob* job : jobs) {
    if (!job->runs || job->queue >= kQueueLimits.size()) continue;
    const double at_s = std::ceil(kQueueLimits[job->queue] / job->gpus) - job->executed_s + now_s;
    if (!next || at_s < *next) next = at_s;
  }
  return next;
}

}  // namespace starling
