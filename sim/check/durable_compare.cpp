// SPDX-License-Identifier: Apache-2.0
// What a journal says against what the node that writes it has in memory, and against a snapshot.
#include <algorithm>
#include <variant>

#include "agents/executor/executor_state.h"
#include "agents/quota/keeper.h"
#include "agents/step/state.h"
#include "sim/check/durable.h"

namespace starling {
namespace {

Durable::Stage stage_of(Stage stage) {
  switch (stage) {
    case Stage::offered:
      return Durable::Stage::offered;
    case Stage::draining:
      return Durable::Stage::draining;
    case Stage::starting:
    case Stage::running:
      return Durable::Stage::starting;
    default:
      return Durable::Stage::waiting;
  }
}

const Placement* in_partition(const std::vector<Share>& gang, PartitionId partition) {
  const auto at = std::find_if(gang.begin(), gang.end(),
                               [&](const Share& share) { return share.partition == partition; });
  return at == gang.end() ? nullptr : &at->gpus;
}

/// `full`: it may have been forgotten that it was here before.
std::string job_differs(const Durable::Job& journal, const Job& memory, bool full) {
  if (journal.stage != stage_of(memory.stage()))
    return std::string("is ") + name_of(memory.stage()) + " in memory alone";
  if (journal.submit.client != memory.client) return "has another client in memory";
  if (journal.submit.forwards != memory.forwards) return "came another way in memory";
  if (journal.order != memory.order) return "has another place in memory";
  if (journal.served != memory.served) {
    return "has had " + std::to_string(seconds(memory.served)) + " s of service in memory and " +
           std::to_string(seconds(journal.served)) + " s in the journal";
  }
  if (journal.submit.spec.gpus() != memory.spec->gpus()) return "has another size in memory";
  if (!full && journal.offered != memory.offered) return "was offered to others in memory";
  if (journal.lost_attempts != memory.lost_attempts) return "has lost other attempts in memory";
  if (journal.held != memory.held || journal.met != memory.met ||
      journal.failures != memory.failures)
    return "waits for something else in memory";
  if (journal.attempts != memory.attempts) {
    return "has had " + std::to_string(memory.attempts) + " attempts in memory and " +
           std::to_string(journal.attempts) + " in the journal";
  }
  if (journal.stage != Durable::Stage::starting && journal.stage != Durable::Stage::draining)
    return {};
  const Job::Run& run = *memory.run();
  if (journal.attempt != run.attempt.id) return "has another attempt in memory";
  if (!std::equal(journal.gang.begin(), journal.gang.end(), run.attempt.parts.begin(),
                  run.attempt.parts.end(),
                  [](const Share& share, const Participant& part) { return share == part.share; }))
    return "has another gang in memory";
  if (journal.allocation != run.attempt.allocation) return "has another allocation in memory";
  if (journal.stage == Durable::Stage::draining && journal.after != run.drain->after)
    return "is drained for another reason in memory";
  if (journal.stage == Durable::Stage::draining && journal.restart_as != run.drain->restart_as)
    return "is to start again by another allocation in memory";
  return {};
}

bool same(const QuotaPortions& a, const QuotaPortions& b) {
  return a.home == b.home && a.stamp == b.stamp && a.tree == b.tree && a.rows == b.rows;
}

/// The keys of `a` that `b` has not: the first, or none.
template <class A, class B>
auto missing(const A& a, const B& b) {
  return std::find_if(a.begin(), a.end(),
                      [&](const auto& entry) { return !b.contains(entry.first); });
}

}  // namespace

std::string Durable::jobs_differ(const AgentState& memory) const {
  const auto job = [](JobId id, const std::string& what) {
    return "job " + to_string(id) + " " + what;
  };
  if (const auto at = missing(jobs_, memory.home.jobs); at != jobs_.end())
    return job(at->first, "is open in the journal alone");
  if (const auto at = missing(memory.home.jobs, jobs_); at != memory.home.jobs.end())
    return job(at->first, "is open in memory alone");
  // The oldest are forgotten at the limit, and no others.
  const Limits& limits = memory.config.limits;
  const bool full = memory.home.remembered.ended_order.size() >= limits.jobs_remembered ||
                    memory.home.remembered.moved_order.size() >= limits.jobs_remembered;
  for (const auto& [id, mine] : jobs_) {
    if (std::string what = job_differs(mine, memory.home.jobs.at(id), full); !what.empty())
      return job(id, what);
  }
  if (archived_ != memory.home.remembered.archive.jobs())
    return "the archive has other jobs in memory";
  if (!full && owed_ != memory.home.remembered.archive.owed())
    return "other offers are owed in memory";
  for (const auto& [id, state] : ended_) {
    if (archived_.contains(id)) continue;
    const auto at = memory.home.remembered.ended.find(id);
    if (at == memory.home.remembered.ended.end()) {
      if (full) continue;
      return job(id, "has ended in the journal alone");
    }
    const JobState& theirs = at->second;
    if (theirs.phase != state.phase || theirs.exit != state.exit || theirs.served != state.served ||
        theirs.attempts != state.attempts)
      return job(id, "has ended otherwise in memory");
  }
  if (const auto at = missing(memory.home.remembered.ended, ended_);
      at != memory.home.remembered.ended.end())
    return job(at->first, "has ended in memory alone");
  for (const auto& [id, gone] : moved_) {
    if (full || jobs_.contains(id) || ended_.contains(id)) continue;
    const auto at = memory.home.remembered.moved.find(id);
    if (at == memory.home.remembered.moved.end() || at->second.to != gone.to ||
        at->second.forwards != gone.forwards)
      return job(id,
                 "has moved to agent " + std::to_string(gone.to.value) + " in the journal alone");
  }
  for (const auto& [id, gone] : memory.home.remembered.moved) {
    const bool came_back = jobs_.contains(id) || ended_.contains(id);
    if (!came_back && !moved_.contains(id)) return job(id, "has moved in memory alone");
  }
  return {};
}

std::string Durable::shares_differ(const AgentState& memory) const {
  const auto of = [](AttemptId id, const std::string& what) {
    return "the share of " + to_string(id) + " " + what;
  };
  for (const auto& [attempt, held] : held_) {
    const Placement* gpus = in_partition(held.gang, memory.owner.partition.id);
    if (gpus == nullptr) continue;
    const Hold* hold = memory.owner.ledger.find(attempt);
    if (hold == nullptr || !memory.owner.shares.contains(attempt))
      return of(attempt, "is in the journal alone");
    if (hold->gpus != *gpus) return of(attempt, "is of other GPUs in memory");
    if (hold->home != held.home || memory.owner.shares.at(attempt).home != held.home)
      return of(attempt, "has another home in memory");
    if (memory.owner.shares.at(attempt).allocation != held.allocation)
      return of(attempt, "has another allocation in memory");
    const bool launched = hold->phase == HoldPhase::launched;
    const bool releasing = hold->phase == HoldPhase::releasing;
    const bool own = held.home == memory.config.me && held.gang.size() == 1;
    if (!releasing && launched != (held.launched || own))
      return of(attempt, std::string("is ") + name_of(hold->phase) + " in memory alone");
  }
  for (const auto& [attempt, share] : memory.owner.shares) {
    if (share.durable && !held_.contains(attempt)) return of(attempt, "is in memory alone");
  }
  const Tombstones& stones = memory.owner.ledger.tombstones();
  const bool full = stones.size() >= memory.config.limits.tombstones;
  for (const AttemptId attempt : over_) {
    if (!full && !stones.contains(attempt)) return of(attempt, "is over in the journal alone");
  }
  for (const auto& [attempt, stone] : stones.all()) {
    if (stone.durable && !over_.contains(attempt)) return of(attempt, "is over in memory alone");
  }
  return {};
}

std::string Durable::differs(const AgentState& memory) const {
  if (std::string what = jobs_differ(memory); !what.empty()) return what;
  if (std::string what = shares_differ(memory); !what.empty()) return what;
  for (const PeerState& peer : memory.flock.peers) {
    const auto seen = epochs_.find(peer.peer.partition.id);
    Epoch mine = seen == epochs_.end() ? Epoch{1} : seen->second;
    if (peer.peer.agent == memory.config.me) mine = std::max(mine, memory.config.epoch);
    if (std::max(mine, Epoch{1}) != peer.epoch) {
      return "the epoch of partition " + std::to_string(peer.peer.partition.id.value) + " is " +
             std::to_string(peer.epoch.value) + " in memory and " + std::to_string(mine.value) +
             " in the journal";
    }
  }
  if (memory.owner.ledger.drained() != drained_) return "other servers are drained in memory";
  if (memory.owner.drain_versions != words_) return "other words of operators are in memory";
  return queues_differ(memory.home.quota.portions.tree(),
                       memory.keeper ? &*memory.keeper : nullptr);
}

std::string Durable::differs(const ExecutorState& memory) const {
  if (memory.epoch != newest()) return "the epoch is another one in memory";
  const auto of = [](AttemptId id, const std::string& what) {
    return "attempt " + to_string(id) + " " + what;
  };
  for (const auto& [attempt, run] : runs_) {
    const auto at = memory.runs.find(attempt);
    if (at == memory.runs.end()) return of(attempt, "is in the journal alone");
    if (at->second.launch.here != run.gpus) return of(attempt, "has other GPUs in memory");
    if (at->second.launch.allocation != run.allocation)
      return of(attempt, "runs by another allocation in memory");
    const bool exited = at->second.phase == starling::Run::Phase::exited;
    if (exited != run.exit.has_value())
      return of(attempt, exited ? "has ended in memory alone" : "has ended in the journal alone");
    const bool stopping = at->second.phase == starling::Run::Phase::stopping;
    if (stopping != run.stopping.has_value())
      return of(attempt,
                stopping ? "is stopped in memory alone" : "is stopped in the journal alone");
    if (stopping && at->second.exit != *run.stopping)
      return of(attempt, "is stopped for another reason in memory");
    if (exited && (at->second.exit != *run.exit || at->second.served != run.served))
      return of(attempt, "has ended otherwise in memory");
  }
  if (const auto at = missing(memory.runs, runs_); at != memory.runs.end())
    return of(at->first, "is in memory alone");
  const bool full = memory.forgotten.size() >= memory.config.limits.tombstones;
  for (const AttemptId attempt : over_) {
    if (!full && !memory.forgotten.contains(attempt))
      return of(attempt, "is over in the journal alone");
  }
  if (const auto at = std::find_if(
          memory.forgotten.all().begin(), memory.forgotten.all().end(),
          [&](const auto& stone) { return stone.second.durable && !over_.contains(stone.first); });
      at != memory.forgotten.all().end())
    return of(at->first, "is over in memory alone");
  return {};
}

std::string Durable::queues_differ(const QueueTree& tree, const QuotaKeeper* keeper) const {
  if (tree != queues_) return "other queues are in memory";
  if (keeper == nullptr) return portions_.empty() ? "" : "portions are in the journal alone";
  if (keeper->tree() != queues_) return "the keeper of queues has others in memory";
  std::size_t homes = 0;
  for (const Record& record : keeper->records()) {
    const auto* theirs = std::get_if<QuotaPortions>(&record);
    if (theirs == nullptr) continue;
    ++homes;
    const auto at = portions_.find(theirs->home);
    if (at == portions_.end() || !same(at->second, *theirs))
      return "the portions of agent " + std::to_string(theirs->home.value) +
             " are others in memory";
  }
  return homes == portions_.size() ? "" : "portions are in the journal alone";
}

/// An executor's stand in the records of its lives, too.
Epoch Durable::newest() const {
  Epoch newest = epoch_;
  for (const auto& [partition, epoch] : epochs_) newest = std::max(newest, epoch);
  return newest;
}

/// Chunks may have new numbers where servers have; each job is with the same others then.
bool Durable::same_archive(const Durable& next) const {
  if (!rewrites_archive_) return archived_ == next.archived_;
  std::map<std::uint64_t, std::uint64_t> chunks;
  for (const auto& [id, chunk] : archived_) {
    const auto at = next.archived_.find(id);
    if (at == next.archived_.end()) return false;
    if (chunks.try_emplace(chunk, at->second).first->second != at->second) return false;
  }
  return archived_.size() == next.archived_.size();
}

std::string Durable::differs_from(const Durable& next) const {
  if (jobs_ != next.jobs_) {
    for (const auto& [id, job] : jobs_) {
      const auto at = next.jobs_.find(id);
      if (at == next.jobs_.end() || !(at->second == job))
        return "job " + to_string(id) + " is not as it was";
    }
    return "a job is new in it";
  }
  for (const auto& [id, state] : next.ended_) {
    if (!ended_.contains(id)) return "job " + to_string(id) + " has ended in it alone";
  }
  if (!same_archive(next)) return "the archive is not as it was";
  if (owed_ != next.owed_) return "an offer is not owed as it was";
  if (held_ != next.held_) return "a share is not as it was";
  if (runs_ != next.runs_) return "a process is not as it was";
  if (newest() != next.newest()) return "the newest epoch is not as it was";
  for (const auto& [partition, epoch] : epochs_) {
    // Its own is the newest of its lives; the first one need not be written.
    if (!me_ || partition.value == me_->value || epoch <= Epoch{1}) continue;
    const auto at = next.epochs_.find(partition);
    if (at == next.epochs_.end() || at->second != epoch)
      return "the epoch of partition " + std::to_string(partition.value) + " is not as it was";
  }
  if (drained_ != next.drained_ || words_ != next.words_) return "a drain is not as it was";
  if (queues_ != next.queues_) return "the queues are not as they were";
  if (!std::equal(portions_.begin(), portions_.end(), next.portions_.begin(), next.portions_.end(),
                  [](const auto& a, const auto& b) { return same(a.second, b.second); }))
    return "what homes may use of queues is not as it was";
  // A new life may take one before its first cycle.
  return life_ <= next.life_ ? std::string{} : "an earlier life wrote it";
}

}  // namespace starling
