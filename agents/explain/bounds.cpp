// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/executor/executor_state.h"
#include "agents/explain/describe.h"
#include "agents/step/state.h"

namespace starling {
namespace {

/// The first size above its bound.
class Bounds {
 public:
  void check(const char* name, std::size_t size, std::size_t most) {
    if (wrong_ || size <= most) return;
    wrong_ =
        std::string(name) + ": " + std::to_string(size) + " of at most " + std::to_string(most);
  }
  [[nodiscard]] const std::optional<std::string>& wrong() const { return wrong_; }

 private:
  std::optional<std::string> wrong_;
};

constexpr std::size_t kQuestions = 8;
constexpr std::size_t kPings = 64;

std::size_t said(const Limits& limits) { return limits.log_tail_bytes + std::size_t{4096}; }

void check_job(Bounds& bounds, const AgentState& s, const Job& job) {
  const std::size_t peers = s.flock.peers.size();
  if (const Job::Round* round = job.round(); round && round->bids) {
    bounds.check("bidders of a round", round->bids->asked.size(), peers);
    bounds.check("offers of a round", round->bids->offers.size(), peers);
  }
  if (const Attempt* attempt = job.attempt())
    bounds.check("participants of an attempt", attempt->parts.size(),
                 std::min<std::size_t>(peers, s.config.limits.participants_per_job));
  bounds.check("homes that a job was offered to", job.offered.size(), peers);
  bounds.check("GPUs of a job", job.placement.size(), s.topology.gpu_count());
  bounds.check("bytes of a job's trouble", job.trouble.size(), said(s.config.limits));
  if (const Job::Run* run = job.run())
    bounds.check("bytes of a job's last words", run->exit.log_tail.size(), said(s.config.limits));
}

void check_share(Bounds& bounds, const AgentState& s, const OwnedShare& share) {
  bounds.check("task groups of a share", share.task_groups.size(), s.owner.executors.size());
  bounds.check("denials of a share", share.denied.size(), s.flock.peers.size());
  bounds.check("questions about a share", share.asked.size(), kQuestions);
  bounds.check("bytes of a share's last words", share.exit.log_tail.size(), said(s.config.limits));
}

}  // namespace

std::optional<std::string> over_limits(const AgentState& s) {
  const Limits& limits = s.config.limits;
  const std::size_t gpus = s.owner.partition.gpus.size();
  const std::size_t tenants = gpus * s.owner.ledger.gpus().jobs_per_gpu();
  Bounds bounds;
  // Another home's jobs are taken in beyond the limit while own ones are on offer (see on(Submit)).
  bounds.check("jobs", s.home.jobs.size(), 3 * std::size_t{limits.jobs_waiting});
  bounds.check("young jobs", s.home.remembered.ended_order.size(), s.home.remembered.ended.size());
  bounds.check("jobs gone", s.home.remembered.moved_order.size(), limits.jobs_remembered);
  bounds.check("archived jobs", s.home.remembered.archive.jobs().size(), limits.jobs_remembered);
  bounds.check("archived bytes", s.home.remembered.archive.bytes(), limits.archive_bytes);
  bounds.check("homes asked about offers", s.home.remembered.settling.size(),
               s.home.remembered.archive.owed().size());
  bounds.check("ended jobs", s.home.remembered.ended.size(), limits.jobs_remembered);
  bounds.check("moved jobs", s.home.remembered.moved.size(), limits.jobs_remembered);
  bounds.check("waiting list", s.home.waiting.size(), s.home.jobs.size());
  bounds.check("running list", s.home.running.kept(), 2 * s.home.jobs.size() + 64);
  bounds.check("lines of queues", s.home.quota.lines().size(), s.home.jobs.size());
  bounds.check("job timers", s.home.timers.size(), s.home.jobs.size());
  // What an executor is found to run is taken in beyond the limit: it holds its GPUs anyway.
  const auto given = std::ranges::count_if(s.owner.ledger.holds(), [](const auto& entry) {
    const HoldPhase phase = entry.second.phase;
    return entry.second.given || phase == HoldPhase::reserved || phase == HoldPhase::committed;
  });
  bounds.check("holds", s.owner.ledger.holds().size(), tenants);
  bounds.check("holds given", static_cast<std::size_t>(given), limits.holds);
  bounds.check("tombstones", s.owner.ledger.tombstones().size(), limits.tombstones);
  bounds.check("shares", s.owner.shares.size(), s.owner.ledger.holds().size());
  bounds.check("share timers", s.owner.share_timers.size(), s.owner.shares.size());
  bounds.check("lapses", s.owner.lapses.size(), s.owner.ledger.holds().size());
  bounds.check("lapses by hold", s.owner.lapse_at.size(), s.owner.lapses.size());
  bounds.check("executors", s.owner.executors.size(), s.config.executors.size());
  bounds.check("peers", s.flock.peers.size(), s.config.flock.size());
  bounds.check("digests of others", s.flock.others.size(), s.flock.peers.size());
  bounds.check("words to itself", s.loop.size(), 0);
  for (const auto& [id, job] : s.home.jobs) check_job(bounds, s, job);
  for (const auto& [attempt, share] : s.owner.shares) check_share(bounds, s, share);
  return bounds.wrong();
}

std::optional<std::string> over_limits(const ExecutorState& s) {
  const Limits& limits = s.config.limits;
  const std::size_t tenants = std::size_t{s.gpus.size()} * std::max(limits.jobs_per_gpu, 2U);
  Bounds bounds;
  bounds.check("ends unheard", s.unheard, kUnheardEnds + tenants);
  bounds.check("runs", s.runs.size(), s.unheard + tenants);
  bounds.check("tombstones", s.forgotten.size(), limits.tombstones);
  bounds.check("resends", s.resends.size(), s.unheard);
  bounds.check("pings", s.pinged.size(), kPings);
  for (const auto& [attempt, run] : s.runs) {
    bounds.check("parts of a run", run.parts.size(), s.config.servers.size());
    bounds.check("bytes of a run's last words", run.exit.log_tail.size(), said(limits));
  }
  return bounds.wrong();
}

}  // namespace starling
