// SPDX-License-Identifier: Apache-2.0
// Whose GPUs a gang may share that spans partitions. Each owner sees its part alone: how much
// slower the gang would be there than alone on the same GPUs, and what those lose who run there.
#include <algorithm>

#include "interference/memory.h"
#include "interference/profile.h"
#include "policies/candidates/candidates.h"
#include "workload/requirements.h"

namespace starling {

/// The GPUs that it has for itself, of one type, in whole workers.
Placement Candidates::open_workers(const Resident& other, std::uint32_t worker) const {
  const Topology& topology = view_->topology;
  Placement out;
  if (other.self.placement.empty()) return out;
  const GpuTypeId type = topology.type_of(other.self.placement.front());
  for (auto at = other.self.placement.begin(); at != other.self.placement.end();) {
    const ServerId server = topology.server_of(*at);
    const std::size_t before = out.size();
    for (; at != other.self.placement.end() && topology.server_of(*at) == server; ++at) {
      if (memory_->residents_.open(*view_, *at) && topology.type_of(*at) == type)
        out.push_back(*at);
    }
    out.resize(out.size() - (out.size() - before) % worker);
  }
  return out;
}

std::vector<CoTenant> Candidates::co_tenants(const JobSpec& gang, std::size_t most) {
  std::vector<CoTenant> found;
  if (!sharing() || demand_of(gang).any()) return found;
  const JobProfile whole = profile_of(gang);
  Candidate candidate;
  candidate.kind = CandidateKind::beside;
  for (const std::uint32_t slot : memory_->residents_.running()) {
    const Resident& other = memory_->residents_.at(slot);
    if (other.group == Residents::kNone) continue;
    candidate.placement = open_workers(other, std::max(gang.gpus_per_worker, 1U));
    if (candidate.placement.empty()) continue;
    const GpuId first = candidate.placement.front();
    if (!allows(gang, view_->topology, view_->topology.server_of(first)) ||
        !fits_together(whole, other.self.job, view_->topology, first))
      continue;
    PlacementRequest part;
    part.spec = &gang;
    part.gpus = static_cast<std::uint32_t>(candidate.placement.size());
    JobProfile profile = whole;
    profile.gpus = part.gpus;
    part.profile = memory_->residents_.profile_id(profile);
    predict_anew(part, candidate);
    CoTenant& tenant = found.emplace_back();
    tenant.job = other.job;
    tenant.speed = std::clamp(candidate.own / candidate.unshared, 1e-6, 1.0);
    tenant.loss =
        std::max(0.0, static_cast<double>(candidate.inflicted_loss()) / static_cast<double>(kGpu));
    tenant.gpus = candidate.placement;
  }
  const auto cost = [](const CoTenant& t) {
    return 1 - t.speed + t.loss / static_cast<double>(t.gpus.size());
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const CoTenant& a, const CoTenant& b) { return cost(a) < cost(b); });
  if (found.size() > most) found.resize(most);
  return found;
}

std::uint64_t Candidates::open_of(GpuTypeId type) const {
  std::uint64_t open = 0;
  for (const std::uint32_t g : memory_->residents_.live_groups()) {
    const Residents::Group& group = memory_->residents_.groups()[g];
    if (group.type == type) open += group.open * group.members.size();
  }
  return open;
}

}  // namespace starling
