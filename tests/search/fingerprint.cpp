// SPDX-License-Identifier: Apache-2.0
// What of a core decides how it goes on. Instants are left out, but for the order in which a core's
// own timers run out: with them no two paths would ever meet.
#include <algorithm>
#include <tuple>

#include "agents/executor/executor_state.h"
#include "agents/step/state.h"
#include "base/hash.h"
#include "tests/search/world.h"

namespace starling::search {
namespace {

constexpr std::uint32_t kRoundsThatMatter = 6;  // as many as change how a gang reserves

struct Hash {
  TraceHash hash;

  void add(std::uint64_t x) { hash.add(x); }
  void add(bool x) { hash.add(std::uint64_t{x ? 1U : 0U}); }
  template <class Tag, class Rep>
  void add(Id<Tag, Rep> id) {
    hash.add(static_cast<std::uint64_t>(id.value));
  }
  void add(const JobId& id) { hash.add(id.lo); }
  void add(const AttemptId& id) {
    add(id.job);
    add(id.home_epoch);
    hash.add(id.number);
  }
  void add(const Placement& gpus) {
    hash.add(gpus.size());
    for (const GpuId gpu : gpus) add(gpu);
  }
  void add(const ExitStatus& exit) {
    hash.add((static_cast<std::uint64_t>(static_cast<std::uint32_t>(exit.code)) << 1U) |
             (exit.lost ? 1U : 0U));
  }
  template <class E>
  requires std::is_enum_v<E>
  void add(E e) { hash.add(static_cast<std::uint64_t>(e)); }
};

enum class Timer : std::uint8_t { job, stage, share, lapse, executor, look };

void add_job(Hash& h, const JobId& id, const Job& job) {
  h.add(id);
  h.add(job.stage());
  const Attempt none;
  const Attempt& attempt = job.attempt() ? *job.attempt() : none;
  h.add(attempt.id);
  for (const Participant& part : attempt.parts) {
    h.add(part.share.partition);
    h.add(part.share.gpus);
    h.add(part.agent);
    h.add(std::uint64_t{(part.reserved ? 1U : 0U) | (part.committed ? 2U : 0U) |
                        (part.started ? 4U : 0U) | (part.exited ? 8U : 0U) |
                        (part.released ? 16U : 0U)});
  }
  if (const Job::Round* round = job.round()) {
    h.add(round->sequential);
    for (const PartitionId partition : round->claimed) h.add(partition);
    if (round->bids) {
      for (const AgentId agent : round->bids->asked) h.add(agent);
      h.add(round->bids->offers.size());
    }
  }
  h.add(std::uint64_t{job.turns});
  h.add(std::uint64_t{std::min(job.failed_rounds, kRoundsThatMatter)});
  if (const Job::Run* run = job.run()) {
    if (run->drain) h.add(run->drain->after);
    h.add(run->exit);
  }
  h.add(job.placement);
}

void add_share(Hash& h, const AgentState& s, const AttemptId& id, const OwnedShare& share) {
  h.add(id);
  h.add(share.home);
  h.add(share.home_known);
  for (const AgentId agent : share.denied) h.add(agent);
  h.add(share.spec == nullptr);
  h.add(share.gang.size());
  h.add(share.exit_reported);
  h.add(share.durable);
  h.add(share.confirmed);
  h.add(share.exit);
  h.add(share.launched == kNever);
  for (const TaskGroup& group : share.task_groups) {
    h.add(std::uint64_t{group.executor});
    h.add(group.state);
    h.add(group.told);
    h.add(share.launched < s.owner.executors[group.executor].asked);
  }
}

void add_timers(Hash& h, const AgentState& s, Instant now) {
  std::vector<std::tuple<Instant, Timer, std::uint64_t>> timers;
  for (const auto& [when, id] : s.home.timers.all()) timers.emplace_back(when, Timer::job, id.lo);
  for (const auto& [id, job] : s.home.jobs) {
    const Instant deadline =
        job.run() ? job.run()->deadline : (job.round() ? job.round()->deadline : kNever);
    if (deadline < kNever) timers.emplace_back(deadline, Timer::stage, id.lo);
  }
  for (const auto& [when, id] : s.owner.share_timers.all())
    timers.emplace_back(when, Timer::share, id.job.lo);
  for (const auto& [id, hold] : s.owner.ledger.holds()) {
    if (hold.until < kNever) timers.emplace_back(hold.until, Timer::lapse, id.job.lo);
  }
  for (std::size_t i = 0; i < s.owner.executors.size(); ++i) {
    if (s.owner.executors[i].timer < kNever)
      timers.emplace_back(s.owner.executors[i].timer, Timer::executor, i);
  }
  if (s.deciding.next < kNever) timers.emplace_back(s.deciding.next, Timer::look, 0);
  if (s.deciding.again < kNever) timers.emplace_back(s.deciding.again, Timer::look, 1);
  std::sort(timers.begin(), timers.end());
  for (const auto& [when, kind, id] : timers) {
    h.add(kind);
    h.add(id);
    h.add(when <= now);
  }
}

struct RecordHash {
  Hash& h;
  void operator()(const LifeBegan& r) const { h.add(r.incarnation), h.add(r.epoch); }
  void operator()(const JobAccepted& r) const { h.add(r.submit.spec.id); }
  void operator()(const JobOffered& r) const { h.add(r.job), h.add(r.to); }
  void operator()(const JobMoved& r) const { h.add(r.job), h.add(r.to); }
  void operator()(const JobEnded& r) const { h.add(r.job), h.add(r.state.phase); }
  void operator()(const ShareCommitted& r) const { h.add(r.attempt), h.add(r.home); }
  void operator()(const EpochSeen& r) const { h.add(r.partition), h.add(r.epoch); }
  void operator()(const ProcessLaunching& r) const { h.add(r.launch.attempt); }
  void operator()(const JobPast& r) const { h.add(r.job); }
  void operator()(const ServerDrained& r) const { h.add(r.server), h.add(r.drained); }
  void operator()(const PeerKnown& r) const { h.add(r.node), h.add(r.life), h.add(r.written); }
  void operator()(const TopologyRead& r) const { h.add(r.fingerprint); }
  void operator()(const DrainVersion& r) const { h.add(r.server), h.add(r.version); }
  void operator()(const AttemptPlan& r) const { h.add(r.attempt), h.add(r.after), h.add(r.exit); }
  void operator()(const JobsArchived& r) const {
    h.add(r.chunk);
    for (const JobId& job : r.jobs) h.add(job);
  }
  void operator()(const ArchiveDropped& r) const { h.add(r.chunk); }
  void operator()(const OffersOwed& r) const {
    for (const JobId& job : r.jobs) h.add(job);
    for (const std::uint32_t offer : r.offers) h.add(std::uint64_t{offer});
  }
  void operator()(const OffersSettled& r) const {
    for (const JobId& job : r.jobs) h.add(job);
  }
  void operator()(const JobsCounted& r) const { h.add(r.accepted), h.add(r.finished); }
  void operator()(const JobStanding& r) const {
    h.add(r.job), h.add(r.held), h.add(r.met), h.add(std::uint64_t{r.failures});
  }
  void operator()(const QueuesSet& r) const { h.add(r.tree.version); }
  void operator()(const QuotaPortions& r) const {
    h.add(r.home), h.add(r.stamp.life), h.add(r.stamp.number), h.add(r.tree);
    for (const QuotaPortions::Row& row : r.rows) {
      for (const char c : row.account.queue + '\n' + row.account.user)
        h.add(std::uint64_t{static_cast<unsigned char>(c)});
      h.add(std::uint64_t{row.may});
    }
  }
  void operator()(const TombstonesDropped& r) const {
    for (const AttemptId& attempt : r.attempts) h.add(attempt);
  }
  template <class R>
  void operator()(const R& r) const {
    h.add(r.attempt);
  }
};

}  // namespace

std::uint64_t fingerprint(const AgentState& s, Instant now) {
  Hash h;
  h.add(s.config.incarnation);
  h.add(s.config.epoch);
  h.add(std::uint64_t{s.home.attempts_opened});
  h.add(std::uint64_t{s.owner.questions});
  h.add(s.deciding.due);
  for (const auto& [id, job] : s.home.jobs) add_job(h, id, job);
  h.add(s.home.jobs.size());
  for (const auto& [id, state] : s.home.remembered.ended) h.add(id), h.add(state.phase);
  for (const auto& [id, moved] : s.home.remembered.moved) h.add(id), h.add(moved.to);
  for (const auto& [id, share] : s.owner.shares) add_share(h, s, id, share);
  for (const auto& [id, hold] : s.owner.ledger.holds()) {
    h.add(id);
    h.add(hold.home);
    h.add(hold.phase);
    h.add(hold.gpus);
  }
  for (const auto& [id, stone] : s.owner.ledger.tombstones().all()) h.add(id), h.add(stone.durable);
  for (const OwnedExecutor& executor : s.owner.executors) {
    h.add(executor.trusted);
    h.add(executor.ever_answered);
    h.add(executor.asked == kNever);
  }
  for (const PeerState& peer : s.flock.peers) h.add(peer.epoch);
  if (s.owner.claim)
    h.add(s.owner.claim->attempt), h.add(s.owner.claim->home), h.add(s.owner.claim->until <= now);
  add_timers(h, s, now);
  return h.hash.value();
}

std::uint64_t fingerprint(const ExecutorState& s) {
  Hash h;
  h.add(s.config.incarnation);
  h.add(s.epoch);
  h.add(s.welcomed);
  for (const auto& [id, run] : s.runs) {
    h.add(id);
    h.add(run.phase);
    h.add(std::uint64_t{(run.killed ? 1U : 0U) | (run.stands ? 2U : 0U)});
    h.add(run.exit);
    for (const RunPart& part : run.parts) h.add(part.ended);
  }
  for (const auto& [id, stone] : s.forgotten.all()) h.add(id);
  for (const auto& [when, id] : s.resends.all()) h.add(id);
  return h.hash.value();
}

std::uint64_t fingerprint(const Record& record) {
  Hash h;
  h.add(std::uint64_t{record.index()});
  std::visit(RecordHash{h}, record);
  return h.hash.value();
}

}  // namespace starling::search
