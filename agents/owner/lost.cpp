// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/step/home_step.h"
#include "base/marks.h"
#include "base/planted.h"

// Silence. A process lives on two words: its owner's to its executor, and its home's to its owner,
// which the owner says on. Both count from the instant at which they were asked for, so an answer
// that was late lengthens nothing. One without them for Timers::orphan stops what it runs; one that
// has heard nothing of it for lost_after(), which is longer, counts it as gone. Where nothing gets
// lost (no heartbeats) silence means nothing.

namespace starling {
namespace {

constexpr std::size_t kQuestionsKept = 8;

}  // namespace

bool FlockStep::lost(Instant heard) const {
  return s.lossy() && later(heard, lost_after(s.config.timers)) <= now;
}

/// A part that has ended by itself owes nothing more before it is told to let go.
bool HomeStep::lost(const Job& job, const Participant& part) const {
  const bool owes = !part.released && (!part.exited || job.stage() == Stage::draining);
  return part.agent != me() && owes && lost(part.last_contact);
}

bool HomeStep::any_lost(const Job& job) const {
  const auto& parts = job.run()->attempt.parts;
  return std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return lost(job, part); });
}

/// Their parts are over; the others have to be stopped. What they did counts only where they said
/// that they had ended.
void HomeStep::count_lost(Job& job) {
  STARLING_MARK("agent: count_lost");
  std::vector<Participant>& parts = job.run()->attempt.parts;
  for (Participant& part : parts) {
    if (!lost(job, part)) continue;
    part.released = true;
    job.trouble = "partition " + std::to_string(part.share.partition.value) +
                  " has not been heard of for too long";
  }
  const bool over =
      std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.released; });
  const bool draining = job.stage() == Stage::draining;
  if (!draining) drain(job, AfterDrain::retry);
  if (!draining && planted(Bug::next_attempt_at_once)) return;  // its run is over already
  if (over) return drained(job);
  if (draining) send_releases(job);
}

/// Of a running job: when a participant could be lost, at the earliest.
void HomeStep::watch_participants(Job& job) {
  Instant when = kNever;
  if (s.lossy()) {
    for (const Participant& part : job.run()->attempt.parts) {
      if (part.agent == me() || part.exited) continue;
      when = std::min(when, later(part.last_contact, lost_after(s.config.timers)));
    }
  }
  s.home.set_timer(job.spec->id, job, when);
}

/// Nothing runs there any more, and its GPUs stay quarantined until it answers.
void OwnerStep::executor_lost(std::uint32_t index) {
  STARLING_MARK("agent: executor_lost");
  OwnedExecutor& executor = s.owner.executors[index];
  executor.lost = true;
  executor.ever_answered = true;
  std::vector<AttemptId> ended, failed;
  for (auto& [attempt, share] : s.owner.shares) {
    for (TaskGroup& group : share.task_groups) {
      if (group.executor != index) continue;
      if (group.state == TaskGroup::State::killing) {
        ended.push_back(attempt);
      } else if (group.state == TaskGroup::State::launching ||
                 group.state == TaskGroup::State::running ||
                 group.state == TaskGroup::State::unknown) {
        failed.push_back(attempt);
      } else {
        continue;
      }
      group.state = TaskGroup::State::gone;
    }
  }
  for (const AttemptId attempt : ended) check_released(attempt);
  for (const AttemptId attempt : failed) {
    fail_share(attempt, s.owner.shares.at(attempt),
               {0, true, "its executor has not been heard of for too long"});
  }
}

/// Its home has not said for so long that it wants it, that it counts it as lost or is about to.
bool OwnerStep::unwanted(const OwnedShare& share) const {
  return s.lossy() && s.remote_home(share) &&
         later(share.confirmed_at, s.config.timers.orphan) <= now;
}

/// It runs: its home is asked when its last confirmation is old.
void OwnerStep::watch_home(AttemptId attempt, OwnedShare& share) {
  const bool asks = s.lossy() && s.remote_home(share);
  s.owner.set_timer(attempt, share, asks ? later(now, s.config.timers.reconfirm) : kNever);
}

/// Where an earlier one is open the home is silent: what it said last is said on again, as it may
/// not have reached an executor, which would go by its owner's word alone.
AttemptQuery OwnerStep::question(AttemptId attempt, OwnedShare& share) {
  if (!share.asked.empty()) relay_confirmation(attempt, share);
  const std::uint64_t token = (s.config.incarnation.value << 32U) | ++s.owner.questions;
  if (share.asked.size() >= kQuestionsKept) share.asked.erase(share.asked.begin());
  share.asked.emplace_back(token, now);
  return {attempt, s.owner.partition.id, token};
}

/// Whether it answers a question that is open; of a live attempt the home's confirmation then
/// counts from that question.
bool OwnerStep::answered(OwnedShare& share, const AttemptAnswer& answer) {
  // Peers of the first protocol give no token back: then it is the oldest, to be on the safe side.
  const auto at = std::find_if(share.asked.begin(), share.asked.end(), [&](const auto& q) {
    return q.first == answer.token || answer.token == 0;
  });
  if (at == share.asked.end()) return false;
  if (answer.life == AttemptLife::live) {
    share.confirmed_at = std::max(share.confirmed_at, at->second);
    share.confirmed = true;
  }
  share.asked.erase(share.asked.begin(), at + 1);
  return true;
}

/// Tells the executors when the home last confirmed the attempt, by its age.
void OwnerStep::relay_confirmation(AttemptId attempt, const OwnedShare& share) {
  if (!s.lossy() || !share.home_known || !s.remote_home(share) || !share.confirmed) return;
  const std::uint64_t token = (s.config.incarnation.value << 32U) | ++s.owner.questions;
  for (const TaskGroup& group : share.task_groups) {
    if (group.state != TaskGroup::State::launching && group.state != TaskGroup::State::running)
      continue;
    if (s.owner.executors[group.executor].watch.protocol < 2)
      continue;  // it would not know what to do with it
    send(s.owner.executors[group.executor].node,
         AttemptAnswer{attempt, AttemptLife::live, token, now - share.confirmed_at});
  }
}

/// Forgets attempts of which nothing can still arrive. Those of jobs that are open here are kept.
void HomeStep::sweep() {
  STARLING_MARK("agent: sweep");
  s.owner.swept = now;
  const Instant before =
      now - std::min(s.config.timers.retention, Duration(std::chrono::hours(24 * 365)));
  std::vector<AttemptId> dropped = s.owner.ledger.tombstones().sweep(
      before, [&](AttemptId attempt) { return s.home.jobs.contains(attempt.job); });
  if (!dropped.empty()) persist(TombstonesDropped{std::move(dropped)});
  s.home.remembered.settling.clear();
  ask_offerers();
}

}  // namespace starling
