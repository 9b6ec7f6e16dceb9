// SPDX-License-Identifier: Apache-2.0
#include "sim/published/muri/service_queues.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

constexpr std::array<double, 2> kQueueLimits = {3250, 7200};  ///< GPU seconds

}  // namespace

void ServiceQueues::move_on(const std::vector<MuriJob*>& jobs) {
  for (MuriJob* job : jobs) {
    if (!job->runs || job->queue >= kQueueLimits.size()) continue;
    if (job->executed_s * job->gpus < kQueueLimits[job->queue]) continue;
    std::erase(queues_[job->queue], job);
    queues_[++job->queue].push_back(job);
  }
}

std::vector<MuriJob*> ServiceQueues::in_order() const {
  std::vector<MuriJob*> all;
  for (const auto& queue : queues_) all.insert(all.end(), queue.begin(), queue.end());
  return all;
}

void ServiceQueues::put_running_first() {
  for (auto& queue : queues_)
    std::stable_partition(queue.begin(), queue.end(), [](const MuriJob* job) { return job->runs; });
}

std::optional<double> ServiceQueues::next_move_s(double now_s,
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
