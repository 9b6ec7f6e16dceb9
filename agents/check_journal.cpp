#include "agents/check_journal.h"

#include <algorithm>
#include <map>
#include <string>

namespace starling {
namespace {

Error misfit(AttemptId attempt, const std::string& what) {
  return {Errc::invalid, "the journal was written for another data centre: attempt " +
                             to_string(attempt) + " " + what +
                             "; start with the topology and the number of agents that it was "
                             "written with until its jobs are over, or in an empty directory"};
}

std::string gpu_text(GpuId gpu) { return "GPU " + std::to_string(gpu.value); }

}  // namespace

Status check_journal(const AgentConfig& config, std::span<const Record> records) {
  const Partition& own = config.flock[config.me.value].partition;
  std::map<AttemptId, std::vector<Share>> open;  // starting, running or held here
  for (const Record& record : records) {
    if (const auto* r = std::get_if<AttemptStarting>(&record)) {
      open[r->attempt] = r->gang;
    } else if (const auto* c = std::get_if<ShareCommitted>(&record)) {
      open[c->attempt] = c->commit.gang;
    } else if (const auto* o = std::get_if<AttemptOver>(&record)) {
      open.erase(o->attempt);
    } else if (const auto* e = std::get_if<JobEnded>(&record)) {
      std::erase_if(open, [&](const auto& entry) { return entry.first.job == e->job; });
    } else if (const auto* l = std::get_if<ShareReleased>(&record)) {
      open.erase(l->attempt);
    }
  }
  for (const auto& [attempt, gang] : open) {
    for (const Share& share : gang) {
      const auto peer =
          std::find_if(config.flock.begin(), config.flock.end(),
                       [&](const PeerAgent& p) { return p.partition.id == share.partition; });
      if (peer == config.flock.end()) {
        return misfit(attempt, "has a share in partition " + std::to_string(share.partition.value) +
                                   ", which does not exist");
      }
      const IndexRange gpus = share.partition == own.id ? own.gpus : peer->partition.gpus;
      for (const GpuId gpu : share.gpus) {
        if (gpus.contains(gpu.value)) continue;
        return misfit(attempt, "has " + gpu_text(gpu) + " of partition " +
                                   std::to_string(share.partition.value) + ", which has GPUs " +
                                   std::to_string(gpus.first) + " to " +
                                   std::to_string(gpus.last - 1));
      }
    }
  }
  return done();
}

}  // namespace starling
