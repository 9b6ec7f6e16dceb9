// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/step/owner_step.h"
#include "interference/profile.h"

namespace starling {
namespace {

/// Measurements of one placement say little new when they follow each other closely.
constexpr Duration kBetweenSamples = std::chrono::seconds(30);

bool runs(const OwnedShare& share) {
  return share.spec != nullptr && !share.exit_reported &&
         std::all_of(
             share.task_groups.begin(), share.task_groups.end(),
             [](const TaskGroup& group) { return group.state == TaskGroup::State::running; });
}

Neighbour runner(const OwnedShare& share) {
  Neighbour made;
  for (const Share& part : share.gang)
    made.placement.insert(made.placement.end(), part.gpus.begin(), part.gpus.end());
  std::sort(made.placement.begin(), made.placement.end());
  made.job =
      profile_of(*share.spec, static_cast<std::uint32_t>(made.placement.size()), share.allocation);
  return made;
}

}  // namespace

/// Of gangs that are wholly here, for it is not known what is beside the rest; not where the job
/// runs otherwise than it asks; once, though each of a gang's executors tells it. At another size
/// than it asks for what the size is worth would be taken for what its neighbours cost: there it is
/// measured against itself, the same attempt with no other beside it.
void OwnerStep::sample(NodeId from, OwnedShare& share, const Progress& progress) {
  if (!(progress.rate > 0) || share.gang.size() != 1 || !runs(share)) return;
  if (!share.allocation.as_asked()) return;
  if (s.owner.executors[share.task_groups.front().executor].node != from) return;
  if (later(share.sampled, kBetweenSamples) > now) return;
  Neighbour self = runner(share);
  std::set<ServerId> servers;
  for (const GpuId gpu : self.placement) servers.insert(s.topology.server_of(gpu));
  Neighbours beside;
  for (const auto& [attempt, other] : s.owner.shares) {
    if (attempt == progress.attempt) continue;
    const Placement& gpus = s.owner.ledger.find(attempt)->gpus;
    const bool near = std::any_of(gpus.begin(), gpus.end(), [&](GpuId gpu) {
      return servers.contains(s.topology.server_of(gpu));
    });
    if (!near) continue;
    if (!runs(other)) return;  // it comes or goes: what was measured cannot be told
    beside.push_back(runner(other));
  }
  const bool resized = self.job.asked != 0 && self.job.gpus != self.job.asked;
  share.sampled = now;
  if (resized && beside.empty()) share.pace_alone = progress.rate;
  if (resized && (beside.empty() || !(share.pace_alone > 0))) return;
  const double relative = resized ? progress.rate / share.pace_alone *
                                        s.speed.speed(self.job, self.placement, {}).relative
                                  : progress.rate / s.speed.scaling(self.job);
  out.teach.push_back(
      {std::move(self.job), std::move(self.placement), std::move(beside), relative});
}

}  // namespace starling
