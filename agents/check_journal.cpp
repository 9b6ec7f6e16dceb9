// SPDX-License-Identifier: Apache-2.0
#include "agents/check_journal.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/counted.h"

namespace starling {
namespace {

Error misfit(AttemptId attempt, const std::string& what) {
  return {Errc::invalid, "the journal was written for another data centre: attempt " +
                             to_string(attempt) + " " + what +
                             "; start with the topology and the number of agents that it was "
                             "written with until its jobs are over, or in an empty directory"};
}

/// An Agent stands on these: its own place in the flock, and executors that serve its partition.
Status check_places(const AgentConfig& config) {
  if (config.me.value >= config.flock.size() || config.flock[config.me.value].agent != config.me) {
    return {Errc::invalid, "agent " + std::to_string(config.me.value) + " is none of the " +
                               counted(config.flock.size(), "agent") + " of this flock"};
  }
  const Partition& own = config.flock[config.me.value].partition;
  std::uint32_t next = own.servers.first;
  for (const ExecutorServers& executor : config.executors) {
    if (executor.servers.first != next || executor.servers.last <= next) break;
    next = executor.servers.last;
  }
  if (next == own.servers.last && own.servers.size() > 0) return done();
  return {Errc::invalid, "the executors of partition " + std::to_string(own.id.value) +
                             " do not serve its " + "servers " + std::to_string(own.servers.first) +
                             " to " + std::to_string(std::max(own.servers.last, 1U) - 1) +
                             ", each once and in order; " +
                             "start with the topology that the flock was made with"};
}

std::string gpu_text(GpuId gpu) { return "GPU " + std::to_string(gpu.value); }

}  // namespace

Status check_journal(const AgentConfig& config, std::span<const Record> records) {
  if (Status places = check_places(config); !places.ok()) return places;
  const Partition& own = config.flock[config.me.value].partition;
  std::map<JobId, AgentId> offered;              // to others, without an answer yet
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
      offered.erase(e->job);
    } else if (const auto* f = std::get_if<JobOffered>(&record)) {
      offered[f->job] = f->to;
    } else if (const auto* m = std::get_if<JobMoved>(&record)) {
      offered.erase(m->job);
    } else if (const auto* l = std::get_if<ShareReleased>(&record)) {
      open.erase(l->attempt);
    } else if (const auto* q = std::get_if<QuotaPortions>(&record)) {
      if (q->home.value < config.flock.size()) continue;
      return {Errc::invalid, "the journal was written for another flock: agent " +
                                 std::to_string(q->home.value) +
                                 " has a portion of its queues, and there are " +
                                 std::to_string(config.flock.size()) +
                                 "; start with as many agents as it was written with"};
    }
  }
  for (const auto& [job, to] : offered) {
    if (to.value < config.flock.size()) continue;
    return {Errc::invalid, "the journal was written for another flock: job " + to_string(job) +
                               " is offered to agent " + std::to_string(to.value) + ", and there " +
                               "are " + std::to_string(config.flock.size()) +
                               "; start with as many agents as it was written with"};
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
