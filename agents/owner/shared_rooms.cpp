// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>

#include "agents/step/home_state.h"
#include "agents/step/owner_step.h"
#include "base/million.h"
#include "workload/requirements.h"

namespace starling {
namespace {

std::int64_t millionths(double x, double most) {
  return std::isfinite(x) ? std::llround(std::clamp(x, 0.0, most) * kMillion) : 0;
}

/// The gang as far as the request tells of it.
JobSpec asked_for(const BidRequest& request) {
  JobSpec gang;
  gang.id = request.attempt.job;
  gang.model = request.model;
  gang.gpus_per_worker = std::max(request.gpus_per_worker, 1U);
  gang.workers = std::max(request.gang / gang.gpus_per_worker, 1U);
  gang.gpu_types = request.gpu_types;
  gang.cpus_per_worker = static_cast<double>(request.each.cpus) / kMillion * gang.gpus_per_worker;
  gang.memory_gib_per_worker =
      static_cast<double>(request.each.memory) / kMillion * gang.gpus_per_worker;
  return gang;
}

}  // namespace

/// What the policy proposes and the ledger does not contradict: GPUs that a job of this home, which
/// runs, has for itself. Nothing is held. A claim is for free GPUs.
std::vector<SharedRoom> OwnerStep::rooms_to_share(const BidRequest& request) {
  std::vector<SharedRoom> rooms;
  if (request.gang == 0 || request.claim_ms > 0 || s.config.limits.jobs_per_gpu < 2) return rooms;
  const JobSpec gang = asked_for(request);
  const Occupancy& open = s.owner.open_to(request.attempt.job, now);
  for (CoTenant& found : s.policy->co_tenants(view(open), gang, SharedRoom::kMost)) {
    const auto known = s.home.jobs.find(found.job);
    if (known == s.home.jobs.end() || known->second.stage() != Stage::running) continue;
    const AttemptId tenant = known->second.attempt()->id;
    const Hold* hold = s.owner.ledger.find(tenant);
    if (hold == nullptr || hold->phase != HoldPhase::launched) continue;
    const bool good = std::adjacent_find(found.gpus.begin(), found.gpus.end(),
                                         std::greater_equal<>()) == found.gpus.end() &&
                      std::all_of(found.gpus.begin(), found.gpus.end(), [&](GpuId gpu) {
                        return std::binary_search(hold->gpus.begin(), hold->gpus.end(), gpu) &&
                               open.tenants(gpu) == 1 && open.has_room(gpu) &&
                               allows(gang, s.topology, s.topology.server_of(gpu));
                      });
    if (!good || found.gpus.empty() || rooms.size() >= SharedRoom::kMost) continue;
    rooms.push_back(
        {tenant, std::move(found.gpus),
         static_cast<std::uint32_t>(std::max<std::int64_t>(millionths(found.speed, 1), 1)),
         static_cast<std::uint64_t>(millionths(found.loss, kMillion))});
  }
  return rooms;
}

}  // namespace starling
