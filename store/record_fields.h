// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "agents/record.h"

namespace starling {

// The fields of every durable struct, once, for reading and for writing: io(field) does one or the
// other. Their order is the format (kRecordFormat).

template <class Io>
void fields(Io& io, JobId& v) {
  io(v.hi), io(v.lo);
}
template <class Io>
void fields(Io& io, AttemptId& v) {
  io(v.job), io(v.home_epoch), io(v.number);
}
template <class Io>
void fields(Io& io, Fence& v) {
  io(v.partition), io(v.epoch);
}
template <class Io>
void fields(Io& io, Share& v) {
  io(v.partition), io(v.gpus);
}
template <class Io>
void fields(Io& io, ExitStatus& v) {
  io(v.code), io(v.lost), io(v.log_tail);
}
template <class Io>
void fields(Io& io, Allocation& v) {
  io(v.workers), io(v.servers), io(v.local_batch), io(v.accumulation), io(v.averaged);
}
template <class Io>
void fields(Io& io, RunDetails& v) {
  io(v.max_servers), io(v.server_cpus), io(v.batch), io(v.max_batch), io(v.copies);
  io(v.save), io(v.restore);
}
template <class Io>
void fields(Io& io, After& v) {
  io(v.how), io(v.job);
}
template <class Io>
void fields(Io& io, JobTerms& v) {
  io(v.hold), io(v.begin), io(v.after), io(v.retries), io(v.retry_after);
  io(v.time_limit), io(v.signal), io(v.signal_before);
  io(v.array), io(v.task), io(v.tasks), io(v.first_task), io(v.last_task), io(v.at_once);
}
template <class Io>
void fields(Io& io, JobSpec& v) {
  io(v.id), io(v.name), io(v.user), io(v.queue), io(v.model);
  io(v.workers), io(v.gpus_per_worker), io(v.min_workers), io(v.max_workers);
  io(v.cpus_per_worker), io(v.memory_gib_per_worker), io(v.gpu_types), io(v.priority);
  io(v.duration), io(v.command), io(v.environment);
}
template <class Io>
void fields(Io& io, Submit& v) {
  io(v.spec), io(v.client), io(v.waited), io(v.served), io(v.forwards);
}
template <class Io>
void fields(Io& io, JobState& v) {
  io(v.job), io(v.phase), io(v.home), io(v.queued), io(v.elapsed), io(v.served);
  io(v.attempts), io(v.forwards), io(v.preemptions), io(v.placement), io(v.exit);
}
template <class Io>
void fields(Io& io, Commit& v) {
  io(v.attempt), io(v.fence), io(v.spec), io(v.gang), io(v.served);
}
template <class Io>
void fields(Io& io, Launch& v) {
  io(v.attempt), io(v.fence), io(v.spec), io(v.gang), io(v.here), io(v.served);
}

template <class Io>
void fields(Io& io, LifeBegan& v) {
  io(v.incarnation), io(v.epoch);
}
template <class Io>
void fields(Io& io, JobAccepted& v) {
  io(v.submit), io(v.order);
}
template <class Io>
void fields(Io& io, AttemptStarting& v) {
  io(v.attempt), io(v.gang);
}
template <class Io>
void fields(Io& io, AttemptDraining& v) {
  io(v.attempt);
}
template <class Io>
void fields(Io& io, AttemptOver& v) {
  io(v.attempt), io(v.served);
}
template <class Io>
void fields(Io& io, JobOffered& v) {
  io(v.job), io(v.to);
}
template <class Io>
void fields(Io& io, JobMoved& v) {
  io(v.job), io(v.to);
}
template <class Io>
void fields(Io& io, JobEnded& v) {
  io(v.job), io(v.state);
}
template <class Io>
void fields(Io& io, ShareCommitted& v) {
  io(v.attempt), io(v.home), io(v.commit);
}
template <class Io>
void fields(Io& io, ShareLaunched& v) {
  io(v.attempt);
}
template <class Io>
void fields(Io& io, ShareReleased& v) {
  io(v.attempt);
}
template <class Io>
void fields(Io& io, ServerDrained& v) {
  io(v.server), io(v.drained);
}
template <class Io>
void fields(Io& io, DrainVersion& v) {
  io(v.server), io(v.version);
}
template <class Io>
void fields(Io& io, ProcessWanted& v) {
  io(v.attempt), io(v.at);
}
template <class Io>
void fields(Io& io, ProcessStopping& v) {
  io(v.attempt), io(v.exit);
}
template <class Io>
void fields(Io& io, TopologyRead& v) {
  io(v.fingerprint);
}
template <class Io>
void fields(Io& io, PeerKnown& v) {
  io(v.node), io(v.life), io(v.born), io(v.written);
}
template <class Io>
void fields(Io& io, JobsArchived& v) {
  io(v.chunk), io(v.bytes), io(v.at), io(v.jobs), io(v.came);
}
template <class Io>
void fields(Io& io, ArchiveDropped& v) {
  io(v.chunk);
}
template <class Io>
void fields(Io& io, OffersOwed& v) {
  io(v.jobs);
}
template <class Io>
void fields(Io& io, OffersSettled& v) {
  io(v.jobs);
}
template <class Io>
void fields(Io& io, JobsCounted& v) {
  io(v.accepted), io(v.finished), io(v.failed), io(v.cancelled);
}
template <class Io>
void fields(Io& io, JobStanding& v) {
  io(v.job), io(v.held), io(v.met), io(v.failures), io(v.not_before), io(v.last);
}
template <class Io>
void fields(Io& io, QueueSpec& v) {
  io(v.name), io(v.guaranteed), io(v.most), io(v.most_per_user), io(v.weight), io(v.users);
}
template <class Io>
void fields(Io& io, QueueTree& v) {
  io(v.version), io(v.queues), io(v.fallback);
}
template <class Io>
void fields(Io& io, QueuesSet& v) {
  io(v.tree);
}
template <class Io>
void fields(Io& io, QuotaAccount& v) {
  io(v.queue), io(v.user);
}
template <class Io>
void fields(Io& io, QuotaStamp& v) {
  io(v.life), io(v.number);
}
template <class Io>
void fields(Io& io, QuotaPortions::Row& v) {
  io(v.account), io(v.may);
}
template <class Io>
void fields(Io& io, QuotaPortions& v) {
  io(v.home), io(v.stamp), io(v.tree), io(v.rows);
}
template <class Io>
void fields(Io& io, EpochSeen& v) {
  io(v.partition), io(v.epoch);
}
template <class Io>
void fields(Io& io, ProcessLaunching& v) {
  io(v.launch);
}
template <class Io>
void fields(Io& io, ProcessExited& v) {
  io(v.attempt), io(v.exit), io(v.served);
}
template <class Io>
void fields(Io& io, ProcessForgotten& v) {
  io(v.attempt);
}

template <class Io>
void fields(Io& io, JobPast& v) {
  io(v.job), io(v.submitted), io(v.first_start);
  io(v.attempts), io(v.preemptions), io(v.lost_attempts);
}
template <class Io>
void fields(Io& io, AttemptPlan& v) {
  io(v.attempt), io(v.after), io(v.restart_at), io(v.exit);
}
template <class Io>
void fields(Io& io, TombstoneServed& v) {
  io(v.attempt), io(v.served);
}
template <class Io>
void fields(Io& io, TombstonesDropped& v) {
  io(v.attempts);
}

// What was added to a struct later stands behind all fields of its record, and only where it says
// something: journals of before are read, and records that lack it are as they were.

template <class Io>
void fields(Io& io, JobAsk& v) {
  io(v.name), io(v.user), io(v.queue), io(v.command), io(v.gpu_types);
  io(v.workers), io(v.gpus_per_worker), io(v.cpus_per_worker), io(v.memory_gib_per_worker);
  io(v.priority);
}

template <class Kind>
bool has_more(const Kind&) {
  return false;
}
template <class Io, class Kind>
void more_fields(Io&, Kind&) {}

inline bool says_something(bool v) { return v; }
inline bool says_something(Duration v) { return v != Duration{0}; }
inline bool says_something(const Allocation& v) { return !v.as_asked(); }
inline bool says_something(const RunDetails& v) { return v.any(); }
inline bool says_something(const JobTerms& v) { return v.any(); }
inline bool says_something(std::uint32_t v) { return v != 0; }
inline bool says_something(JobReason v) { return v != JobReason::none; }

/// The last ones of a record: written up to the last that says something.
template <class Io, class... Fields>
void last_fields(Io& io, Fields&... last) {
  if constexpr (Io::reads) {
    bool says = true;  // the last one that is there
    const auto read = [&](auto& field) {
      if (!io.more()) return;
      io(field);
      says = says_something(field);
    };
    (read(last), ...);
    if (!says) io.fail("its last field says nothing");
  } else {
    std::size_t count = 0, at = 0;
    ((++at, says_something(last) ? void(count = at) : void()), ...);
    at = 0;
    ((at++ < count ? io(last) : void()), ...);
  }
}

inline bool has_more(const JobAccepted& v) {
  return v.submit.attempts > 0 || v.submit.preemptions > 0 || v.submit.begun >= Duration{0} ||
         v.submit.spec.no_requeue || v.submit.spec.as_user || v.submit.spec.run.any() ||
         v.submit.spec.terms.any() || v.submit.failures > 0;
}
template <class Io>
void more_fields(Io& io, JobAccepted& v) {
  io(v.submit.attempts), io(v.submit.preemptions), io(v.submit.begun);
  last_fields(io, v.submit.spec.no_requeue, v.submit.spec.as_user, v.submit.spec.run,
              v.submit.spec.terms, v.submit.failures);
}

inline bool has_more(const AttemptStarting& v) { return !v.allocation.as_asked(); }
template <class Io>
void more_fields(Io& io, AttemptStarting& v) {
  last_fields(io, v.allocation);
}

inline bool has_more(const AttemptPlan& v) { return !v.restart_as.as_asked() || v.exit.timed_out; }
template <class Io>
void more_fields(Io& io, AttemptPlan& v) {
  last_fields(io, v.restart_as, v.exit.timed_out);
}

// An owner that begins a new life may still have to launch it; no_requeue is for its home alone.
inline bool has_more(const ShareCommitted& v) {
  return v.commit.spec.as_user || !v.commit.allocation.as_asked() || v.commit.spec.run.any() ||
         v.commit.spec.terms.any();
}
template <class Io>
void more_fields(Io& io, ShareCommitted& v) {
  last_fields(io, v.commit.spec.as_user, v.commit.allocation, v.commit.spec.run,
              v.commit.spec.terms);
}

inline bool has_more(const ProcessLaunching& v) {
  return v.launch.spec.as_user || !v.launch.allocation.as_asked() || v.launch.spec.run.any() ||
         v.launch.spec.terms.any();
}
template <class Io>
void more_fields(Io& io, ProcessLaunching& v) {
  last_fields(io, v.launch.spec.as_user, v.launch.allocation, v.launch.spec.run,
              v.launch.spec.terms);
}

inline bool has_more(const OffersOwed& v) { return !v.offers.empty(); }
template <class Io>
void more_fields(Io& io, OffersOwed& v) {
  io(v.offers);
}

inline bool has_more(const ProcessStopping& v) { return v.exit.timed_out; }
template <class Io>
void more_fields(Io& io, ProcessStopping& v) {
  last_fields(io, v.exit.timed_out);
}
inline bool has_more(const ProcessExited& v) { return v.exit.timed_out; }
template <class Io>
void more_fields(Io& io, ProcessExited& v) {
  last_fields(io, v.exit.timed_out);
}

inline bool has_more(const ProcessWanted& v) { return v.by_home; }
template <class Io>
void more_fields(Io& io, ProcessWanted& v) {
  last_fields(io, v.by_home);
}

inline bool has_more(const JobPast& v) {
  return v.requeued > Duration{0} || v.waits_since >= Duration{0};
}
template <class Io>
void more_fields(Io& io, JobPast& v) {
  io(v.requeued), io(v.waits_since);
}

inline bool has_more(const JobEnded& v) { return v.state.ask != nullptr; }
template <class Io>
void more_fields(Io& io, JobEnded& v) {
  JobAsk ask = v.state.ask == nullptr ? JobAsk{} : *v.state.ask;
  io(ask), io(v.state.submitted), io(v.state.begun);
  io(v.state.attempt_epoch), io(v.state.attempt_number);
  last_fields(io, v.state.requeued, v.state.allocation, ask.run, ask.terms, v.state.exit.timed_out,
              v.state.reason, v.state.failures);
  if constexpr (Io::reads) v.state.ask = std::make_shared<const JobAsk>(std::move(ask));
}

}  // namespace starling
