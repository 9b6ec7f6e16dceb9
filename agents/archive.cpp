// SPDX-License-Identifier: Apache-2.0
// What is over leaves the journal for the archive, and is forgotten there by number, bytes and age.
#include "agents/archive.h"

#include <algorithm>
#include <utility>

#include "agents/step/home_step.h"
#include "base/marks.h"

namespace starling {
namespace {

constexpr std::size_t kAskedAtOnce = 256;  // jobs that other homes are asked about
constexpr int kDroppedAtOnce = 16;         // chunks, in one turn
constexpr std::size_t kState = 64;         // bytes of an ended job in a chunk, but for what varies

std::size_t bytes_of(const JobState& over) {
  return kState + sizeof(GpuId) * over.placement.size() + over.exit.log_tail.size() +
         (over.ask == nullptr ? 0 : bytes_of(*over.ask));
}

}  // namespace

void Archive::add(const JobsArchived& record) {
  Chunk& chunk = chunks_[record.chunk];
  chunk = {record.bytes, record.at, record.jobs, record.came};
  bytes_ += record.bytes;
  next_ = std::max(next_, record.chunk + 1);
  for (const JobId& job : record.jobs) chunk_of_[job] = record.chunk;
}

void Archive::drop(std::uint64_t number) {
  const auto at = chunks_.find(number);
  if (at == chunks_.end()) return;
  bytes_ -= at->second.bytes;
  for (const JobId& job : at->second.jobs) {
    const auto known = chunk_of_.find(job);
    if (known != chunk_of_.end() && known->second == number) chunk_of_.erase(known);
  }
  owed_.insert(at->second.came.begin(), at->second.came.end());
  chunks_.erase(at);
}

std::optional<std::uint64_t> Archive::find(const JobId& job) const {
  const auto at = chunk_of_.find(job);
  return at == chunk_of_.end() ? std::nullopt : std::optional(at->second);
}

bool AgentState::is_over(const JobId& job) const {
  return ended.contains(job) || archive.contains(job);
}

/// Oldest first, as many as the archive may have; what came from another home is owed an answer
/// from then on.
void AgentState::remember_ended(JobState over) {
  const JobId id = over.job;
  const std::size_t size = bytes_of(over);
  if (archive.contains(id) || !ended.emplace(id, std::move(over)).second) return;
  young_bytes += size;
  young.push_back(id);
  while (young.size() > config.limits.jobs_remembered ||
         (young_bytes > config.limits.archive_bytes && young.size() > 1)) {
    const JobState oldest = take_young();
    if (oldest.forwards > 0) archive.owe(oldest.job);
  }
}

JobState AgentState::take_young() {
  const auto oldest = ended.find(young.front());
  JobState over = std::move(oldest->second);
  young_bytes -= bytes_of(over);
  ended.erase(oldest);
  young.pop_front();
  return over;
}

void AgentState::remember_moved(JobId job) {
  gone.push_back(job);
  if (gone.size() <= config.limits.jobs_remembered) return;
  const auto oldest = moved.find(gone.front());
  if (oldest != moved.end()) {
    if (oldest->second.forwards > 1) archive.owe(oldest->first);
    moved.erase(oldest);
  }
  gone.pop_front();
}

/// They are the oldest ones, in their order.
void AgentState::put_away(const JobsArchived& record) {
  for (const JobId& job : record.jobs) {
    if (!young.empty() && young.front() == job) (void)take_young();
  }
  archive.add(record);
}

/// One chunk at a time, so that no turn takes long.
void HomeStep::put_away() {
  const Limits& limits = s.config.limits;
  if (s.archive_full()) {
    STARLING_MARK("agent: ended jobs go to the archive");
    JobsArchived record;
    record.chunk = s.archive.next_chunk();
    if (s.config.calendar) record.at = *s.config.calendar + now.time_since_epoch();
    ArchiveChunk chunk{record.chunk, {}};
    while (!s.young.empty() && record.bytes < limits.archive_chunk_bytes) {
      JobState over = s.take_young();
      record.bytes += bytes_of(over);
      record.jobs.push_back(over.job);
      if (over.forwards > 0) record.came.push_back(over.job);
      chunk.records.emplace_back(JobEnded{over.job, std::move(over)});
    }
    s.archive.add(record);
    out.archive.push_back(std::move(chunk));
    persist(std::move(record));
  }
  const auto too_old = [&](const Archive::Chunk& chunk) {
    if (!s.config.calendar || chunk.at < Duration{0}) return false;
    return *s.config.calendar + now.time_since_epoch() - chunk.at >
           std::chrono::hours(24) * limits.days_remembered;
  };
  for (int dropped = 0; dropped < kDroppedAtOnce && !s.archive.chunks().empty(); ++dropped) {
    const auto& [number, oldest] = *s.archive.chunks().begin();
    const std::size_t jobs = s.archive.jobs().size() + s.ended.size();
    if (jobs <= limits.jobs_remembered && s.archive.bytes() <= limits.archive_bytes &&
        !too_old(oldest))
      break;
    STARLING_MARK("agent: the archive forgets its oldest jobs");
    const std::uint64_t chunk = number;
    s.archive.drop(chunk);
    persist(ArchiveDropped{chunk});
    out.forget.push_back(chunk);
  }
}

/// Whether anybody may still offer what is no longer remembered: every other home is asked, and
/// asked again at the next sweep where it has not answered.
void HomeStep::ask_offerers() {
  if (s.peers.size() < 2) return;
  auto next = s.archive.owed().upper_bound(s.asked_last);
  for (std::size_t looked = 0; s.settling.size() < kAskedAtOnce; ++looked) {
    if (looked >= s.archive.owed().size()) break;
    if (next == s.archive.owed().end()) next = s.archive.owed().begin();
    const JobId job = *next++;
    s.asked_last = job;
    std::set<AgentId>& waits = s.settling[job];
    if (!waits.empty()) continue;
    for (const PeerState& peer : s.peers) {
      if (peer.peer.agent == me()) continue;
      waits.insert(peer.peer.agent);
      tell(peer.peer.agent, Query{job});
    }
  }
}

/// Of a job that this home owes an answer. Who has it open may be offering it; anybody else never
/// will again.
void HomeStep::on(NodeId from, const JobState& state) {
  if (!is_agent(from)) return;
  const auto asked = s.settling.find(state.job);
  if (asked == s.settling.end()) return;
  const bool over =
      terminal(state.phase) || state.phase == JobPhase::moved || state.phase == JobPhase::unknown;
  if (!over) {
    s.settling.erase(asked);  // asked again at the next sweep
    return;
  }
  asked->second.erase(agent_of(from));
  if (!asked->second.empty()) return;
  STARLING_MARK("agent: an offer is settled");
  s.settling.erase(asked);
  s.archive.settle(state.job);
  persist(OffersSettled{{state.job}});
  ask_offerers();
}

}  // namespace starling
