#pragma once

#include <variant>

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
void fields(Io& io, DrainWord& v) {
  io(v.server), io(v.version);
}
template <class Io>
void fields(Io& io, ProcessWanted& v) {
  io(v.attempt), io(v.at);
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

}  // namespace starling
