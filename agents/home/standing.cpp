// SPDX-License-Identifier: Apache-2.0
// What jobs wait for beside GPUs: their release, their time, other jobs, a pause after a failure,
// other tasks of their array, what their queue may have. Those that do are in no waiting list, so
// no policy sees them.
#include <algorithm>

#include "agents/step/home_step.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {
namespace {

constexpr Duration kAskAgain = std::chrono::milliseconds(50);  // however many jobs wait for it

bool comes_true(After::How how, JobPhase end) {
  if (how == After::How::any) return true;
  return (how == After::How::ok) == (end == JobPhase::finished);
}

std::uint64_t all_of(const JobTerms& terms) {
  const std::size_t count = terms.after.size();
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

std::string never_text(const After& after, JobPhase end) {
  return std::string("DependencyNeverSatisfied: it was to start after ") + name_of(after.how) +
         " of " + to_string(after.job) + ", which has " +
         (end == JobPhase::cancelled ? "been " : "") + name_of(end);
}

}  // namespace

Instant begins_at(const Job& job) {
  const JobTerms& terms = job.spec->terms;
  return job.forwards > 0 || terms.begin == Duration{0} ? Instant::min()
                                                        : later(job.submitted, terms.begin);
}

/// Puts a job that waits up for decision, or keeps it back and looks again when that can have
/// changed. False: it has ended, because what it waits for can never be.
bool HomeStep::queue(Job& job, bool blocked) {
  JobReason& back = std::get<Job::Waiting>(job.doing).back;
  back = JobReason::none;
  if (job.spec->terms.any() || job.failures > 0 || job.held) {
    if (!look_at_others(job)) return false;
    back = why_back(job);
  }
  if (back == JobReason::none && !s.home.quota.lets(job)) {
    keep_back_for_quota(job);
    s.home.quota.say(HomeQuota::Urge::now);
    return true;
  }
  if (back == JobReason::none) {
    enter_array(job);
    s.home.enter_waiting(job, blocked);
    if (job.spec->terms.at_once > 0) {  // who counts them is this home
      if (s.home.everybody.empty()) {
        for (const PeerState& peer : s.flock.peers) s.home.everybody.push_back(peer.peer.agent);
      }
      s.home.waiting.find(job.order)->offered = s.home.everybody;
    }
    return true;
  }
  STARLING_MARK("agent: a job is kept back");
  if (back != JobReason::array_limit) leave_array(job);
  Instant when = kNever;
  if (back == JobReason::begin) when = begins_at(job);
  if (back == JobReason::retry) when = job.not_before;
  if (back == JobReason::dependency) when = retry_at(job.backoff);
  s.home.set_timer(job.spec->id, job, when);
  return true;
}

/// Something may have changed for a job that is kept back.
void HomeStep::queue_again(Job& job) {
  if (job.back() == JobReason::array_limit)
    s.home.arrays[job.spec->terms.array].back.erase({job.order, job.spec->id});
  s.home.quota.keep_back_no_more(job);
  if (!queue(job, false) || job.back() != JobReason::none) return;
  STARLING_MARK("agent: a job is kept back no longer");
  job.backoff = Duration{0};
  change(TriggerKind::arrival);
}

JobReason HomeStep::why_back(Job& job) {
  const JobTerms& terms = job.spec->terms;
  if (job.held) return JobReason::held;
  const std::uint64_t all = all_of(terms);
  if ((job.met & all) != all && !planted(Bug::dependency_ignored)) return JobReason::dependency;
  if (begins_at(job) > now) return JobReason::begin;
  if (job.not_before > now) return JobReason::retry;
  if (terms.at_once == 0 || job.in_array) return JobReason::none;
  ArrayState& array = s.home.arrays[terms.array];
  if (array.in < terms.at_once) return JobReason::none;
  array.back.insert({job.order, job.spec->id});
  return JobReason::array_limit;
}

void HomeStep::enter_array(Job& job) {
  if (job.spec->terms.at_once == 0 || job.in_array) return;
  job.in_array = true;
  ++s.home.arrays[job.spec->terms.array].in;
}

/// It has ended, or waits for something else than GPUs: the next one may.
void HomeStep::leave_array(Job& job) {
  const auto known = s.home.arrays.find(job.spec->terms.array);
  if (known == s.home.arrays.end()) return;
  ArrayState& array = known->second;
  array.back.erase({job.order, job.spec->id});
  if (job.in_array) --array.in;
  job.in_array = false;
  std::uint32_t room = job.spec->terms.at_once - std::min(job.spec->terms.at_once, array.in);
  for (const auto& [order, id] : array.back) {
    if (room-- == 0) break;
    s.home.set_timer(id, s.home.jobs.at(id), now);
  }
  if (array.in == 0 && array.back.empty()) s.home.arrays.erase(known);
}

/// What is known here of how another job has ended.
std::optional<JobPhase> HomeStep::end_of(const JobId& id) const {
  const auto& past = s.home.remembered.ended;
  if (const auto over = past.find(id); over != past.end()) return over->second.phase;
  if (const auto other = s.home.others.find(id); other != s.home.others.end())
    return other->second.end;
  return std::nullopt;
}

/// Which of the jobs that it waits for have ended as they were to; what has come true stays so, and
/// is durable. During the roll call nothing ends: this may be an old copy.
bool HomeStep::look_at_others(Job& job) {
  const JobTerms& terms = job.spec->terms;
  const std::uint64_t before = job.met;
  for (std::size_t i = 0; i < terms.after.size(); ++i) {
    const After& after = terms.after[i];
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((job.met & bit) != 0) continue;
    const auto end = end_of(after.job);
    if (!end) {
      OtherJob& other = s.home.others[after.job];
      other.waiting.insert(job.spec->id);
      ask_for(after.job, other);
      continue;
    }
    if (!comes_true(after.how, *end)) {
      if (s.calling_roll()) continue;
      STARLING_MARK("agent: a dependency can never be met");
      job.reason = JobReason::dependency_never;
      this->end(job, JobPhase::failed, {0, false, never_text(after, *end)});
      return false;
    }
    job.met |= bit;
    forget_other(after.job, job.spec->id);
  }
  if (job.met != before) persist(s.standing_of(job));
  return true;
}

/// Whoever has it, or everybody: of a job of this home its end will be told here. What is in its
/// own archive the driver reads for it, so it is asked, too.
void HomeStep::ask_for(const JobId& id, OtherJob& other) {
  if (s.home.jobs.contains(id) || later(other.asked, kAskAgain) > now) return;
  other.asked = now;
  if (const auto chunk = s.home.remembered.archive.find(id))
    return send_archived(agent_node(me()), id, *chunk);
  if (const auto gone = s.home.remembered.moved.find(id);
      gone != s.home.remembered.moved.end() && !other.home)
    other.home = gone->second.to;
  for (const PeerState& peer : s.flock.peers) {
    const AgentId agent = peer.peer.agent;
    if (agent == me() || (other.home && *other.home != agent)) continue;
    tell(agent, Query{id});
  }
}

void HomeStep::forget_other(const JobId& id, const JobId& waiting) {
  const auto other = s.home.others.find(id);
  if (other == s.home.others.end()) return;
  other->second.waiting.erase(waiting);
  if (other->second.waiting.empty()) s.home.others.erase(other);
}

/// Answer to a Query for a job that others here wait for. An end is told by its home alone, once it
/// is durable there, and never changes.
void HomeStep::heard_of_other(AgentId from, const JobState& state) {
  const auto known = s.home.others.find(state.job);
  if (known == s.home.others.end() || s.home.jobs.contains(state.job)) return;
  OtherJob& other = known->second;
  if (terminal(state.phase)) {
    STARLING_MARK("agent: a job that others wait for has ended at another home");
    other.end = state.phase;
    return wake_waiting(state.job);
  }
  if (state.phase == JobPhase::moved && state.home == me()) {
    other.home.reset();  // it has gone on from here since then
  } else if (state.phase == JobPhase::moved) {
    other.home = state.home;
  } else if (state.phase != JobPhase::unknown) {
    other.home = from;
  } else if (other.home == from) {
    other.home.reset();  // it has gone on, or was never there
  }
}

/// They are looked at in this cycle or the next one: an end may come while others are gone through.
void HomeStep::wake_waiting(const JobId& ended) {
  const auto other = s.home.others.find(ended);
  if (other == s.home.others.end()) return;
  for (const JobId& id : other->second.waiting) {
    const auto job = s.home.jobs.find(id);
    if (job == s.home.jobs.end() || job->second.stage() != Stage::waiting) continue;
    s.home.set_timer(id, job->second, now);
  }
}

/// The job is over: no job waits for it in vain, and it waits for none.
void HomeStep::leave_others(Job& job) {
  for (const After& after : job.spec->terms.after) forget_other(after.job, job.spec->id);
  leave_array(job);
  wake_waiting(job.spec->id);
}

}  // namespace starling
