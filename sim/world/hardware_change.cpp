// SPDX-License-Identifier: Apache-2.0
// Machines that come, go and are rebuilt beside others that work.
#include <algorithm>

#include "sim/world/hardware.h"

namespace starling {

std::string Hardware::change(const Physics& physics, const Renumbering& numbers) {
  std::string uprooted;
  const auto moved = [&](Placement& gpus) {
    std::erase_if(gpus, [&](GpuId gpu) { return numbers.gpus[gpu.value] == Renumbering::kGone; });
    for (GpuId& gpu : gpus) gpu = GpuId{numbers.gpus[gpu.value]};
  };
  // Under the old speeds so far.
  for (const auto& [attempt, index] : by_attempt_) {
    if (gangs_[index].moving) account(gangs_[index]);
  }
  physics_ = &physics;
  on_gpu_.assign(topology_.gpu_count(), 0);
  on_server_.assign(topology_.server_count(), {});
  busy_ = 0;
  for (const auto& [attempt, index] : by_attempt_) {
    Gang& gang = gangs_[index];
    for (SimProcess& p : gang.processes) {
      const bool stays = std::none_of(p.gpus.begin(), p.gpus.end(),
                                      [&](GpuId gpu) { return numbers.cleared[gpu.value]; });
      if (!stays && uprooted.empty()) {
        uprooted = "attempt " + to_string(attempt) + " runs on server " +
                   std::to_string(p.server.value) + ", which leaves or changes";
      }
      if (!stays) continue;
      moved(p.gpus);
      p.server = ServerId{numbers.servers[p.server.value]};
      for (const GpuId gpu : p.gpus) {
        if (on_gpu_[gpu.value]++ == 0) ++busy_;
      }
    }
    moved(gang.gpus);
    for (std::uint32_t& server : gang.servers) server = numbers.servers[server];
    std::erase(gang.servers, Renumbering::kGone);
    if (!gang.moving) continue;
    for (const std::uint32_t server : gang.servers) on_server_[server].insert(index);
  }
  for (std::vector<Exit>& exits : exits_) {
    std::erase_if(exits, [&](const Exit& exit) {
      return numbers.servers[exit.server.value] == Renumbering::kGone;
    });
    for (Exit& exit : exits) exit.server = ServerId{numbers.servers[exit.server.value]};
  }
  for (JobTruth& job : jobs_) moved(job.placement);
  Placement sick(sick_.begin(), sick_.end());
  moved(sick);
  sick_ = {sick.begin(), sick.end()};
  ++health_;
  ++changes_;
  couple();
  if (!physics.varies() || !uprooted.empty()) return uprooted;
  for (const auto& [attempt, index] : by_attempt_) {
    if (gangs_[index].moving) rerate(index);
  }
  return uprooted;
}

}  // namespace starling
