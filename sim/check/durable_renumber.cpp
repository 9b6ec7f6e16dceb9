// SPDX-License-Identifier: Apache-2.0
// The checker's own reading of what a journal means when servers and GPUs get other numbers.
#include <algorithm>

#include "sim/check/durable.h"

namespace starling {
namespace {

struct Numbers {
  const Renumbering& to;
  std::string wrong = {};

  [[nodiscard]] bool stays(GpuId gpu) const {
    return gpu.value < to.gpus.size() && !to.cleared[gpu.value];
  }
  void in_use(AttemptId attempt, Placement& gpus) {
    for (GpuId& gpu : gpus) {
      if (stays(gpu)) {
        gpu = GpuId{to.gpus[gpu.value]};
      } else if (wrong.empty()) {
        wrong = "attempt " + to_string(attempt) + " has GPU " + std::to_string(gpu.value) +
                ", whose server leaves or changes";
      }
    }
  }
  void in_use(AttemptId attempt, std::vector<Share>& gang) {
    for (Share& share : gang) in_use(attempt, share.gpus);
  }
};

}  // namespace

std::string Durable::renumber(const Renumbering& to) {
  Numbers numbers{to};
  for (auto& [id, job] : jobs_) {
    numbers.in_use(job.attempt, job.gang);
    const auto stays = [&](GpuId gpu) { return numbers.stays(gpu); };
    if (std::all_of(job.restart_at.begin(), job.restart_at.end(), stays)) {
      for (GpuId& gpu : job.restart_at) gpu = GpuId{to.gpus[gpu.value]};
    } else {
      // There is no such place any more, so it is tried again wherever there is one.
      job.restart_at.clear();
      if (job.after == AfterDrain::restart) job.after = AfterDrain::retry;
    }
  }
  for (auto& [attempt, held] : held_) numbers.in_use(attempt, held.gang);
  for (auto& [attempt, run] : runs_) numbers.in_use(attempt, run.gpus);
  std::set<ServerId> drained;
  for (const ServerId server : drained_) {
    if (server.value < to.servers.size() && !to.cleared_servers[server.value])
      drained.insert(ServerId{to.servers[server.value]});
  }
  drained_ = std::move(drained);
  std::map<ServerId, std::uint64_t> words;
  for (const auto& [server, version] : words_) {
    if (server.value < to.servers.size() && to.servers[server.value] != Renumbering::kGone)
      words[ServerId{to.servers[server.value]}] = version;
  }
  words_ = std::move(words);
  rewrites_archive_ = true;
  return numbers.wrong;
}

}  // namespace starling
