// SPDX-License-Identifier: Apache-2.0
// A gang over several partitions that shares GPUs with jobs that run there: what its policy chooses
// of what it was offered.
#include <algorithm>

#include "agents/step/home_step.h"
#include "base/marks.h"
#include "base/million.h"

namespace starling {
namespace {

bool meet(const Placement& a, const Placement& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](GpuId gpu) { return std::binary_search(b.begin(), b.end(), gpu); });
}

Participant& part_of(Attempt& attempt, PartitionId partition, AgentId agent) {
  for (Participant& part : attempt.parts) {
    if (part.share.partition == partition) return part;
  }
  Participant& part = attempt.parts.emplace_back();
  part.share.partition = partition;
  part.agent = agent;
  return part;
}

}  // namespace

/// The policy chooses, as on one partition; what it may choose from is what the owners have said,
/// and the ledgers have the last word. Of the `need` GPUs: how many are still missing.
std::size_t HomeStep::add_shared(Job& job, std::size_t need) {
  STARLING_MARK("agent: a gang would share GPUs");
  Job::Round& round = *job.round();
  const JobView* gang = s.home.waiting.find(job.order);
  if (gang == nullptr) return need;
  std::vector<CoTenant> offered;
  for (const auto& [partition, room] : round.bids->shared)
    offered.push_back({room.tenant.job, room.gpus, std::max(room.speed, 1U) / kMillion,
                       static_cast<double>(room.loss) / kMillion});
  const auto have = round.gpus - static_cast<std::uint32_t>(need);
  const std::vector<std::size_t> chosen =
      s.policy->choose_tenants(view(s.owner.open_to(job.spec->id, now)), *gang, have, offered);
  const std::size_t worker = std::max(job.spec->gpus_per_worker, 1U);
  for (const std::size_t i : chosen) {
    if (i >= offered.size()) continue;
    const auto& [partition, room] = round.bids->shared[i];
    Placement some(room.gpus.begin(),
                   room.gpus.begin() + static_cast<std::ptrdiff_t>(
                                           std::min(need, room.gpus.size()) / worker * worker));
    if (some.empty()) continue;
    Participant& part = part_of(round.attempt, partition, s.flock.owner_of(partition)->peer.agent);
    Placement& gpus = part.share.gpus;
    if (meet(some, gpus)) continue;
    need -= some.size();
    gpus.insert(gpus.end(), some.begin(), some.end());
    std::sort(gpus.begin(), gpus.end());
    part.beside.push_back(room.tenant);
  }
  return round.attempt.parts.size() > s.config.limits.participants_per_job ? round.gpus : need;
}

/// It is not worth it now.
void HomeStep::give_up_sharing(Job& job) {
  STARLING_MARK("agent: a gang shares no GPUs");
  give_up_round(job, "no job was found that it could share GPUs with");
}

}  // namespace starling
