// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "agents/home/never_fits.h"
#include "agents/step/home_step.h"
#include "base/counted.h"
#include "base/marks.h"
#include "base/planted.h"
#include "workload/check_job.h"

namespace starling {
namespace {

constexpr std::uint32_t kBusyRetryMs = 1000, kRollRetryMs = 100;
constexpr std::uint32_t kListMost = 1000;
constexpr std::size_t kListedChunks = 8;
constexpr std::uint32_t kMostDoublings = 6;  // of retry_min: beyond retry_max

/// More than a job takes in a frame.
std::size_t bytes_in_frame(const JobState& state) {
  return 256 + sizeof(GpuId) * state.placement.size() + state.exit.log_tail.size() +
         (state.ask == nullptr ? 0 : bytes_of(*state.ask));
}

JobFate fate_of(JobPhase over) {
  if (over == JobPhase::finished) return JobFate::finished;
  return over == JobPhase::cancelled ? JobFate::cancelled : JobFate::failed;
}

}  // namespace

JobState state_of(const AgentState& s, const Job& job, Instant now) {
  JobState state;
  state.job = job.spec->id;
  state.phase = phase_of(job.stage());
  state.home = s.config.me;
  state.queued = (job.first_start == kNever ? now : job.first_start) - job.submitted;
  state.requeued = job.requeued_by(now);
  state.elapsed = now - job.submitted;
  state.served = job.served;
  if (job.started() != kNever) {
    const Duration measured = job.run()->measured;
    state.served += measured > Duration{0} ? measured : now - job.started();
  }
  state.attempts = job.attempts;
  state.forwards = job.forwards;
  state.preemptions = job.preemptions;
  state.placement = job.placement;
  state.allocation = job.allocation;
  state.begun = job.first_start != kNever;
  state.attempt_epoch = job.last.home_epoch;
  state.attempt_number = job.last.number;
  state.failures = job.failures;
  if (job.failures > 0) state.exit = job.failure;
  state.reason = job.back();
  if (state.reason == JobReason::begin) state.until = begins_at(job) - now;
  if (state.reason == JobReason::retry) state.until = job.not_before - now;
  state.until = std::max(state.until, Duration{0});
  return state;
}

JobState full_state_of(const AgentState& s, const Job& job, Instant now) {
  JobState state = state_of(s, job, now);
  state.ask = ask_of(*job.spec);
  if (s.config.calendar) state.submitted = s.date_of(job.submitted);
  return state;
}

void HomeStep::tell_client(const Job& job) {
  if (job.client.value == 0) return;
  send(job.client, state_of(s, job, now));
}

/// A repeat is answered as before. One that comes back with more forwards than it left with is a
/// new arrival; where it has not left, this life is an old one that does not know it yet, and what
/// it says of the job counts for nothing.
void HomeStep::on(NodeId from, const Submit& submit) {
  STARLING_MARK("agent: Submit");
  const JobId id = submit.spec.id;
  const bool forwarded = is_agent(from);
  if (!forwarded &&
      (submit.forwards > 0 || submit.waited > Duration{0} || submit.served > Duration{0} ||
       submit.attempts > 0 || submit.preemptions > 0 || submit.begun >= Duration{0} ||
       submit.requeued > Duration{0} || submit.failures > 0)) {
    // Only a home can say that a job has come on from another one; believing a client here would
    // run a job that was given away a second time.
    return on(from, Submit{submit.spec, from});
  }
  if (!forwarded && (submit.spec.as_user || !by.user.empty())) {
    Submit its = submit;
    if (const Status signed_ = sign(its.spec, by, s.config.only_user); !signed_.ok())
      return send(from, Rejected{id, Refusal::denied, signed_.error().message});
    return take_in(from, its);
  }
  take_in(from, submit);
}

/// What a home hands over, or a client whose user is known by now.
void HomeStep::take_in(NodeId from, const Submit& submit) {
  const JobId id = submit.spec.id;
  const bool forwarded = is_agent(from);
  if (planted(Bug::submit_accepted_twice))
    s.home.remembered.ended.erase(id), std::erase(s.home.remembered.ended_order, id);
  if (const auto known = s.home.jobs.find(id); known != s.home.jobs.end()) {
    Job& job = known->second;
    if (job.stage() != Stage::offered && submit.forwards > job.forwards) {
      STARLING_MARK("agent: an offer of what a later life than this one has given away");
      return;
    }
    if (job.stage() != Stage::offered || submit.forwards <= job.forwards + 1) {
      return send(from, Accepted{id, me(), submit.forwards});
    }
    STARLING_MARK("agent: a job comes back before its offer was answered");
    moved_on(job);  // it was accepted there, and its way led back
  }
  if (const auto over = s.home.remembered.ended.find(id); over != s.home.remembered.ended.end()) {
    STARLING_MARK("agent: a Submit of what is over");
    if (forwarded) return send(from, Accepted{id, me(), submit.forwards});
    return send(from, over->second);
  }
  if (const auto chunk = s.home.remembered.archive.find(id)) {
    STARLING_MARK("agent: a Submit of what is in the archive");
    if (forwarded) return send(from, Accepted{id, me(), submit.forwards});
    return send_archived(from, id, *chunk);
  }
  if (forwarded && s.home.remembered.archive.owes(id, submit.forwards)) {
    STARLING_MARK("agent: an offer of what is over and forgotten");
    return send(from, Accepted{id, me(), submit.forwards});
  }
  std::vector<AgentId> offered;
  if (const auto gone = s.home.remembered.moved.find(id); gone != s.home.remembered.moved.end()) {
    if (submit.forwards <= gone->second.forwards) {
      if (forwarded) return send(from, Accepted{id, me(), submit.forwards});
      JobState state;
      state.job = id;
      state.phase = JobPhase::moved;
      state.home = gone->second.to;
      state.forwards = gone->second.forwards - 1;
      return send(from, std::move(state));
    }
    offered = gone->second.offered;
  }
  if (is_foreign(from))
    return send(from,
                Rejected{id, Refusal::invalid, "you have read another topology", submit.forwards});
  if (const Status sane = check_job(submit.spec, s.config.limits); !sane.ok()) {
    return send(from, Rejected{id, Refusal::invalid, sane.error().message, submit.forwards});
  }
  if (std::string reason = never_fits(s, submit.spec); !reason.empty()) {
    STARLING_MARK("agent: a Submit that never fits");
    return send(from, Rejected{id, Refusal::never_fits, std::move(reason), submit.forwards});
  }
  // One that another home hands over has been taken in already, and waits until it may run.
  if (!forwarded && s.home.quota.portions.limits()) {
    if (std::optional<Rejected> refused = why_not_queued_here(submit.spec)) {
      STARLING_MARK("agent: a Submit that its queue refuses");
      return send(from, std::move(*refused));
    }
  }
  // Nothing is promised before everybody could say that this state is an old copy.
  if (s.calling_roll()) {
    STARLING_MARK("agent: a Submit during the roll call");
    return send(from, Busy{id, kRollRetryMs});
  }
  if (is_full(from)) return send(from, Busy{id, kBusyRetryMs});
  accept(forwarded ? submit.client : from, submit, std::move(offered));
  send(from, Accepted{id, me(), submit.forwards});
}

/// Full homes that have offered one another jobs would wait for one another. So what is on offer
/// does not keep another home's jobs out, up to twice the limit; nor does anything, up to three
/// times, where that home is offered one from here, or where there is nothing here but offers:
/// whichever takes a job makes room where it comes from.
bool HomeStep::is_full(NodeId from) const {
  const std::size_t most = s.config.limits.jobs_waiting, all = s.home.jobs.size();
  if (!is_agent(from)) return all >= most;
  if (s.home.remembered.archive.owed().size() >= s.config.limits.jobs_remembered) return true;
  const std::size_t not_on_offer = std::size_t{s.home.waiting_jobs()} + s.home.running_jobs;
  if (all < 2 * most) return not_on_offer >= most;
  if (all >= 3 * most) return true;
  return not_on_offer > 0 && std::ranges::none_of(s.home.jobs, [&](const auto& known) {
           return known.second.offered_to(agent_of(from)) != nullptr;
         });
}

void HomeStep::accept(NodeId client, const Submit& submit, std::vector<AgentId> offered) {
  STARLING_MARK("agent: accept");
  Job& job = s.home.jobs[submit.spec.id];
  Submit record = submit;
  record.client = client;
  // Another fallback later moves no GPUs in use from one account to another.
  if (record.spec.queue.empty()) record.spec.queue = s.home.quota.portions.tree().fallback;
  job.spec = std::make_shared<const JobSpec>(record.spec);
  job.client = client;
  job.order = ++s.home.arrivals;
  job.waited = submit.waited;
  job.submitted = now - submit.waited;
  job.served = submit.served;
  job.forwards = submit.forwards;
  job.attempts = submit.attempts;
  job.preemptions = submit.preemptions;
  job.requeued = submit.requeued;
  if (submit.begun >= Duration{0}) {
    job.first_start = std::min(now, job.submitted + submit.begun);
    if (s.config.calendar) job.waits_since = now;
  }
  job.came_back(std::move(offered));
  job.held = submit.forwards == 0 && submit.spec.terms.hold;
  job.met = submit.forwards == 0 ? 0 : ~std::uint64_t{0};
  job.failures = submit.failures;
  if (!planted(Bug::accepted_before_journal)) {
    persist(JobAccepted{std::move(record), job.order});
  }
  if (s.config.calendar) persist(s.past_of(job));
  ++s.counters.accepted;
  if (queue(job, false) && job.back() == JobReason::none) change(TriggerKind::arrival);
}

/// What runs has to be gone before a job is cancelled, so a repeat may meet it still draining.
void HomeStep::on(NodeId from, const Cancel& cancel) {
  STARLING_MARK("agent: Cancel");
  if (s.calling_roll()) return;  // it is said again
  const auto known = s.home.jobs.find(cancel.job);
  if (known == s.home.jobs.end()) return on(from, Query{cancel.job});
  Job& job = known->second;
  if (!is_agent(from)) {
    if (std::string why = why_not_theirs(*job.spec, by); !why.empty()) {
      STARLING_MARK("agent: a Cancel of another's job");
      return send(from, Rejected{cancel.job, Refusal::denied, std::move(why)});
    }
  }
  switch (job.stage()) {
    case Stage::offered:  // asked again once it is known whose job it is
      break;
    case Stage::bidding:
    case Stage::reserving:
    case Stage::committing:
      leave_round(job);
      [[fallthrough]];
    case Stage::waiting: {
      const NodeId told = job.client;
      end(job, JobPhase::cancelled);
      if (from != told) on(from, Query{cancel.job});
      return;
    }
    case Stage::starting:
    case Stage::running:
      drain(job, AfterDrain::cancel);
      break;
    case Stage::draining: {
      AfterDrain& after = job.run()->drain->after;
      if (after == AfterDrain::fail || after == AfterDrain::cancel) break;
      // It ends for its user, and no longer for others: so says its journal.
      if (after == AfterDrain::wait) --job.preemptions;
      after = AfterDrain::cancel;
      persist(plan_of(*job.run()));
      break;
    }
  }
  send(from, full_state_of(s, job, now));
}

void HomeStep::on(NodeId from, const Query& query) {
  STARLING_MARK("agent: Query");
  if (s.calling_roll()) return;  // what an old copy knows may have changed; it is asked again
  if (const auto known = s.home.jobs.find(query.job); known != s.home.jobs.end()) {
    return send(from, full_state_of(s, known->second, now));
  }
  if (const auto over = s.home.remembered.ended.find(query.job);
      over != s.home.remembered.ended.end()) {
    return send(from, over->second);
  }
  if (const auto chunk = s.home.remembered.archive.find(query.job))
    return send_archived(from, query.job, *chunk);
  JobState state;
  state.job = query.job;
  state.home = me();
  if (const auto gone = s.home.remembered.moved.find(query.job);
      gone != s.home.remembered.moved.end()) {
    state.phase = JobPhase::moved;
    state.home = gone->second.to;
    state.forwards = gone->second.forwards - 1;
  }
  send(from, std::move(state));
}

/// The driver adds what the archive has of it.
void HomeStep::send_archived(NodeId to, const JobId& job, std::uint64_t chunk) {
  JobState state;
  state.job = job;
  out.recall.push_back({job, chunk});
  send(to, std::move(state));
}

void HomeStep::on(NodeId from, const ListJobs& list) {
  if (s.calling_roll()) return;  // as a Query
  JobList answer;
  auto job = s.home.jobs.upper_bound(list.after);
  auto over = s.home.remembered.ended.upper_bound(list.after);
  auto old = s.home.remembered.archive.jobs().upper_bound(list.after);
  const std::uint32_t limit = std::min(list.limit, kListMost);
  std::size_t bytes = 0;           // a page has to fit into a frame
  std::set<std::uint64_t> chunks;  // and asks for few chunks, for each takes a while
  for (;;) {
    const JobId* next = nullptr;
    const auto consider = [&](const auto& at, const auto& end) {
      if (at != end && (next == nullptr || at->first < *next)) next = &at->first;
    };
    consider(job, s.home.jobs.end());
    consider(over, s.home.remembered.ended.end());
    consider(old, s.home.remembered.archive.jobs().end());
    if (next == nullptr) break;
    answer.more = answer.jobs.size() >= limit || bytes > s.config.limits.frame_bytes / 2;
    if (answer.more) break;
    if (job != s.home.jobs.end() && next == &job->first) {
      answer.jobs.push_back(full_state_of(s, job->second, now));
      ++job;
    } else if (over != s.home.remembered.ended.end() && next == &over->first) {
      answer.jobs.push_back(over->second);
      ++over;
    } else {
      answer.more = chunks.size() >= kListedChunks && !chunks.contains(old->second);
      if (answer.more) break;
      if (chunks.insert(old->second).second)
        bytes += s.home.remembered.archive.chunks().at(old->second).bytes;
      out.recall.push_back({old->first, old->second});
      answer.jobs.emplace_back().job = old->first;
      ++old;
    }
    bytes += bytes_in_frame(answer.jobs.back());
  }
  send(from, std::move(answer));
}

/// The job's one terminal record. `job` is gone afterwards.
void HomeStep::end(Job& job, JobPhase phase, ExitStatus exit) {
  STARLING_MARK("agent: end");
  const JobId id = job.spec->id;
  JobState state = full_state_of(s, job, now);
  state.phase = phase;
  state.exit = std::move(exit);
  state.reason = job.reason;
  state.until = Duration{0};
  persist(JobEnded{id, state});
  s.home.depart(job, fate_of(phase), now);
  if (job.client.value != 0) send(job.client, state);
  s.count_ended(phase);
  if (job.run() != nullptr) {
    s.home.leave_running(job);
  } else {
    s.home.leave_waiting(job);
  }
  s.home.set_timer(id, job, kNever);
  leave_others(job);
  s.home.jobs.erase(id);
  s.home.remembered.add_ended(std::move(state), s.config.limits);
  change(TriggerKind::departure);
}

/// Its attempt is over and nothing of it runs.
void HomeStep::wait_again(Job& job, bool after_backoff) {
  STARLING_MARK("agent: wait_again");
  const JobId id = job.spec->id;
  job.doing = Job::Waiting{};
  if (job.failed_rounds + job.lost_attempts > s.config.limits.attempts_per_job) {
    return end(job, JobPhase::failed,
               {0, false,
                "given up after " + counted(job.attempts, "attempt") + " and " +
                    std::to_string(job.failed_rounds) + " failed rounds: " + job.trouble});
  }
  s.home.leave_waiting(job);
  if (!queue(job, after_backoff)) return;
  if (job.back() != JobReason::none) {
    // Its timer is set.
  } else if (after_backoff) {
    // Starts that come to nothing again and again must not keep machines busy.
    const std::uint32_t doublings = std::min(job.lost_attempts, kMostDoublings);
    job.backoff = std::max(job.backoff, s.config.timers.retry_min * (1U << doublings) / 2);
    s.home.set_timer(id, job, retry_at(job.backoff));
  } else {
    job.backoff = Duration{0};
    s.home.set_timer(id, job, kNever);
  }
  change(TriggerKind::departure);
}

}  // namespace starling
