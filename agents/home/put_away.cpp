// SPDX-License-Identifier: Apache-2.0
// What is over leaves the journal for the archive, and is forgotten there by number, bytes and age.
#include <algorithm>
#include <set>
#include <utility>

#include "agents/step/home_step.h"
#include "base/marks.h"

namespace starling {
namespace {

constexpr std::size_t kAskedAtOnce = 256;  // jobs that other homes are asked about
constexpr int kDroppedAtOnce = 16;         // chunks, in one cycle

/// Seconds from 1970 to 2019: a machine that says an earlier date has lost it (a flat battery), and
/// what it dates so is not old.
constexpr Duration kEarliestDate = std::chrono::seconds(1'546'300'800);

}  // namespace

/// One chunk at a time, so that no cycle takes long.
void HomeStep::put_away() {
  Remembered& past = s.home.remembered;
  const Limits& limits = s.config.limits;
  const Duration date =
      s.config.calendar ? *s.config.calendar + now.time_since_epoch() : Duration{-1};
  if (past.chunk_full(limits)) {
    STARLING_MARK("agent: ended jobs go to the archive");
    JobsArchived record;
    record.chunk = past.archive.next_chunk();
    record.at = date;
    ArchiveChunk chunk{record.chunk, {}};
    while (!past.ended_order.empty() && record.bytes < limits.archive_chunk_bytes) {
      JobState over = past.take_oldest();
      record.bytes += archived_bytes(over);
      record.jobs.push_back(over.job);
      if (over.forwards > 0) record.came.push_back(over.job);
      chunk.records.emplace_back(JobEnded{over.job, std::move(over)});
    }
    past.archive.add(record);
    out.archive.push_back(std::move(chunk));
    persist(std::move(record));
  }
  const auto too_old = [&](const Archive::Chunk& chunk) {
    if (chunk.at < kEarliestDate) return false;
    return date - chunk.at > std::chrono::hours(24) * limits.days_remembered;
  };
  for (int dropped = 0; dropped < kDroppedAtOnce && !past.archive.chunks().empty(); ++dropped) {
    const auto& [number, oldest] = *past.archive.chunks().begin();
    const std::size_t jobs = past.archive.jobs().size() + past.ended.size();
    if (jobs <= limits.jobs_remembered && past.archive.bytes() <= limits.archive_bytes &&
        !too_old(oldest))
      break;
    STARLING_MARK("agent: the archive forgets its oldest jobs");
    const std::uint64_t chunk = number;
    past.archive.drop(chunk);
    persist(ArchiveDropped{chunk});
    out.forget.push_back(chunk);
  }
}

/// Whether a home may still offer what is no longer remembered: every other home is asked, and
/// asked again at the next sweep where it has not answered.
void HomeStep::ask_offerers() {
  Remembered& past = s.home.remembered;
  if (s.flock.peers.size() < 2) return;
  auto next = past.archive.owed().upper_bound(past.asked_last);
  for (std::size_t looked = 0; past.settling.size() < kAskedAtOnce; ++looked) {
    if (looked >= past.archive.owed().size()) break;
    if (next == past.archive.owed().end()) next = past.archive.owed().begin();
    const JobId job = (next++)->first;
    past.asked_last = job;
    std::set<AgentId>& waits = past.settling[job];
    if (!waits.empty()) continue;
    for (const PeerState& peer : s.flock.peers) {
      if (peer.peer.agent == me()) continue;
      waits.insert(peer.peer.agent);
      tell(peer.peer.agent, Query{job});
    }
  }
}

/// Of a job that this home owes an answer. One that has it open may be offering it, unless its next
/// offer is a later one than those that are owed an answer; any other never will again.
void HomeStep::on(NodeId from, const JobState& state) {
  Remembered& past = s.home.remembered;
  if (!is_agent(from)) return;
  heard_of_other(agent_of(from), state);
  heard_of_offer(agent_of(from), state);
  const auto asked = past.settling.find(state.job);
  if (asked == past.settling.end()) return;
  const bool over =
      terminal(state.phase) || state.phase == JobPhase::moved || state.phase == JobPhase::unknown;
  if (!over && past.archive.owes(state.job, state.forwards + 1)) {
    past.settling.erase(asked);  // asked again at the next sweep
    return;
  }
  asked->second.erase(agent_of(from));
  if (!asked->second.empty()) return;
  STARLING_MARK("agent: an offer is settled");
  past.settling.erase(asked);
  past.archive.settle(state.job);
  persist(OffersSettled{{state.job}});
  ask_offerers();
}

}  // namespace starling
