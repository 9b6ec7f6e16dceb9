// SPDX-License-Identifier: Apache-2.0
#include "agents/agent/agent.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "agents/step/step.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {
namespace {

constexpr Duration kSweep = std::chrono::minutes(1);
constexpr std::uint32_t kTenantsBefore = 2;  // the most that any policy has let share a GPU

}  // namespace

void Step::receive(NodeId from, const Message& message) {
  std::visit([&](const auto& m) { on(from, m); }, message);
}

void Step::settle() {
  // Handlers append, so the message has to leave the vector before it is handled.
  for (std::size_t i = 0; i < s.loop.size(); ++i) {
    const Message message = std::move(s.loop[i]);
    receive(agent_node(me()), message);
  }
  s.loop.clear();
}

void Step::on(NodeId from, const Exited& exited) {
  STARLING_MARK("agent: Exited");
  if (executor_at(from) != nullptr) {
    on_executor(from, exited);
  } else {
    on_home(from, exited);
  }
}

void Step::on(NodeId from, const Progress& progress) {
  STARLING_MARK("agent: Progress");
  if (executor_at(from) != nullptr) {
    on_executor(from, progress);
  } else {
    on_home(from, progress);
  }
}

namespace {

/// When the open attempt began to run, if it had: then its first start is on record, and that it
/// waits is not. What it had run before counts as its service, which is off where it was not at the
/// pace of the size asked for.
void date_run(Job& job, Instant now) {
  if (!job.dated || job.first_start == kNever || job.waits_since != kNever) return;
  job.run()->started = std::min(now, later(job.first_start, job.requeued + job.served));
  job.run()->dated = true;
}

/// A calendar behind a date of the journal has gone back: it says that date at least. Otherwise
/// jobs would have waited for less than they have, and lose their turn to others.
void put_calendar_right(AgentState& s, Instant now) {
  Duration behind{0};
  for (const auto& [id, job] : s.home.jobs) {
    if (job.dated) behind = std::max(behind, job.submitted - now);
    if (job.first_start != kNever) behind = std::max(behind, job.first_start - now);
    if (job.waits_since != kNever) behind = std::max(behind, job.waits_since - now);
  }
  if (behind == Duration{0} || !s.config.calendar) return;
  STARLING_MARK("agent: a calendar has gone back");
  *s.config.calendar += behind;
  for (auto& [id, job] : s.home.jobs) {
    if (job.dated) job.submitted -= behind;
    if (job.first_start != kNever) job.first_start -= behind;
    if (job.waits_since != kNever) job.waits_since -= behind;
    if (job.not_before != Instant::min()) job.not_before -= behind;
  }
}

}  // namespace

/// The first step of a life: what the journal left open goes on.
/// In the order in which they had started, as policies are shown them.
void Step::resume_runs(std::vector<Job*> running) {
  std::sort(running.begin(), running.end(), [](const Job* a, const Job* b) {
    return std::tuple(a->started(), a->attempt()->id.number, a->order) <
           std::tuple(b->started(), b->attempt()->id.number, b->order);
  });
  for (Job* job : running) {
    s.home.enter_running(*job);
    job->stage() == Stage::draining ? send_releases(*job) : send_starts(*job);
  }
}

void Step::begin() {
  STARLING_MARK("agent: begin");
  s.begun = true;
  put_calendar_right(s, now);
  persist(LifeBegan{s.config.incarnation, s.config.epoch});
  std::vector<Job*> waiting;
  std::vector<Job*> running;
  for (auto& [id, job] : s.home.jobs) {
    job.submitted = job.dated ? std::min(job.submitted, now) : now - job.waited;
    if (job.first_start != kNever) job.first_start = std::min(job.first_start, now);
    if (job.waits_since != kNever) job.waits_since = std::min(job.waits_since, now);
    if (Attempt* attempt = job.attempt()) {
      for (Participant& part : attempt->parts) part.last_contact = now;
    }
    switch (job.stage()) {
      case Stage::waiting:
        waiting.push_back(&job);
        break;
      case Stage::offered:
        STARLING_MARK("agent: a life begins with a job on offer");
        send_offer(job);
        break;
      case Stage::starting:
        STARLING_MARK("agent: a life begins with a job that starts or runs");
        date_run(job, now);
        running.push_back(&job);
        break;
      case Stage::draining:
        // Decided in an earlier life, and told by no record before the attempt is over.
        if (job.run()->drain->after == AfterDrain::wait) ++job.preemptions;
        STARLING_MARK("agent: a life begins with a job that drains");
        date_run(job, now);
        running.push_back(&job);
        break;
      default:
        break;
    }
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const Job* a, const Job* b) { return a->order < b->order; });
  for (Job* job : running) enter_array(*job);
  resume_runs(std::move(running));  // counted before others are let in
  s.home.quota.portions.begin();
  if (s.home.quota.portions.tree().version > 0) s.home.quota.say(HomeQuota::Urge::now);
  for (Job* job : waiting) {
    if (!job->spec->terms.any() && job->failures == 0 && !job->held) {
      (void)queue(*job, false);
      continue;
    }
    // Looked at in this step, once it is known whether to decide.
    std::get<Job::Waiting>(job->doing).back = JobReason::dependency;
    s.home.set_timer(job->spec->id, *job, now);
  }
  for (auto& [attempt, share] : s.owner.shares) {
    if (planted(Bug::successor_relaunches)) launch(attempt, share);
    share.confirmed_at = now;
    // Our own word is at hand; another home may be about to send Start.
    const bool own = share.home == me();
    s.owner.set_timer(attempt, share, own ? now : later(now, s.config.timers.orphan_query));
  }
  s.owner.ledger.tombstones().date(now);
  s.owner.swept = now;
  for (OwnedExecutor& executor : s.owner.executors) {
    request_inventory(executor);
    if (planted(Bug::allocates_before_inventory)) s.owner.ledger.trust(executor.servers);
  }
  for (const PeerState& peer : s.flock.peers) {
    if (peer.peer.agent == me()) continue;
    greet(peer);
  }
  if (s.keeper) begin_keeping();
  if (s.lossy()) {
    s.beat = later(now, s.config.timers.heartbeat);
    for (OwnedExecutor& executor : s.owner.executors) executor.watch.last_heard = now;
    for (PeerState& peer : s.flock.peers) peer.watch.last_heard = now;
  }
  change(TriggerKind::arrival);  // of this home; a policy's rounds go on as they were
  if (s.config.roll_call > Duration{0})
    s.deciding.next = s.roll_call = later(now, s.config.roll_call);
}

void Step::tick() {
  STARLING_MARK("agent: tick");
  s.deciding.decided = false;
  while (const std::optional<JobId> id = s.home.timers.due(now)) {
    Job& job = s.home.jobs.at(*id);
    s.home.set_timer(*id, job, kNever);
    on_job_timer(job);
    settle();
  }
  while (const std::optional<AttemptId> attempt = s.owner.share_timers.due(now)) {
    OwnedShare& share = s.owner.shares.at(*attempt);
    s.owner.set_timer(*attempt, share, kNever);
    on_share_timer(*attempt, share);
    settle();
  }
  lapse();
  for (OwnedExecutor& executor : s.owner.executors) {
    if (executor.timer <= now) request_inventory(executor);
  }
  look_at_rests();
  const bool beats = s.beat <= now;
  if (beats) heartbeat();
  if (beats || (!s.lossy() && s.flock.peers.size() > 1 && s.policy->facts().preemptive))
    look_for_turn();
  if (beats && s.keeper) mind_homes();
  if (beats) settle();  // what an executor took with it is over for its home before it decides
  // Twice: where this agent keeps the queues itself, its answer is heeded before it decides.
  // Not during the roll call: an old copy would say that less runs than does.
  for (int time = 0; time < 2 && s.home.quota.is_due(now) && !s.calling_roll(); ++time) {
    mind_quota();
    settle();
  }
  if (s.owner.claim && s.owner.claim->until <= now) end_claim(s.owner.claim->attempt);
  if (later(s.owner.swept, kSweep) <= now) sweep();
  if (s.deciding.again <= now) change(TriggerKind::digest);
  if (s.deciding.next <= now) change(TriggerKind::round);
  if (s.deciding.due && !s.calling_roll()) {
    s.roll_call = std::min(s.roll_call, now);
    decide();
  }
  settle();
  put_away();
  if (s.flock.digest_due || s.flock.next_digest <= now) send_digests();
}

Agent::Agent(AgentConfig config, const Topology& topology, const SpeedModel& speed,
             std::unique_ptr<Policy> policy, Rng rng, std::span<const Record> recovered)
    : state_(std::make_unique<AgentState>(std::move(config), topology, speed, std::move(policy),
                                          rng)) {
  for (const Record& record : recovered) state_->replay(record);
  if (!state_->owner.overfull) return;
  // An earlier life let jobs share GPUs. They run on; what starts from now on has GPUs of its own.
  AgentState& first = *state_;
  state_ = std::make_unique<AgentState>(std::move(first.config), topology, speed,
                                        std::move(first.policy), rng, kTenantsBefore);
  for (const Record& record : recovered) state_->replay(record);
}
Agent::Agent(std::unique_ptr<AgentState> state) : state_(std::move(state)) {}
Agent::~Agent() = default;
Agent::Agent(Agent&&) noexcept = default;
Agent& Agent::operator=(Agent&&) noexcept = default;

void Agent::step(Instant now, const Event& event, Output& out) {
  AgentState& s = *state_;
  s.now = now;
  const std::size_t sent = out.send.size();
  Step step{s, now, out};
  if (!s.begun) {
    step.begin();
    step.settle();
  }
  if (const auto* received = std::get_if<Received>(&event)) {
    ++s.counters.messages;
    step.by = received->by;
    step.heard(received->from, received->protocol);
    step.receive(received->from, received->message);
    step.settle();
  } else {
    step.tick();
  }
  s.counters.messages += out.send.size() - sent;
}

Instant Agent::next_deadline() const noexcept {
  const AgentState& s = *state_;
  const bool decides = s.deciding.due && !s.calling_roll();
  const bool tells = s.flock.digest_due && s.flock.peers.size() > 1;
  const bool asks = s.home.quota.look && !s.calling_roll();
  if (!s.begun || decides || tells || asks || s.home.remembered.chunk_full(s.config.limits))
    return Instant::min();
  Instant next =
      std::min({s.beat, s.deciding.next, s.deciding.again, s.flock.next_digest, s.home.quota.timer,
                s.home.timers.next(), s.owner.share_timers.next(), s.owner.lapses.next()});
  if (s.owner.claim) next = std::min(next, s.owner.claim->until);
  for (const OwnedExecutor& executor : s.owner.executors)
    next = std::min({next, executor.timer, executor.starts.next()});
  return next;
}

Agent Agent::clone() const { return Agent(std::make_unique<AgentState>(*state_)); }

const AgentConfig& Agent::config() const noexcept { return state_->config; }
const AgentState& Agent::state() const noexcept { return *state_; }
AgentStatus Agent::status() const { return status_of(*state_); }
void Agent::note_refused_frame() noexcept { ++state_->counters.refused_frames; }

void Agent::note_decision_time(Duration took) noexcept {
  if (!std::exchange(state_->deciding.decided, false)) return;
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 4));
  const auto octave = static_cast<std::size_t>(std::bit_width(ns)) - 1;
  const std::size_t quarter = (ns >> (octave - 2)) & 3U;
  ++state_->deciding.times[std::min<std::size_t>(octave * 4 + quarter, 255)];
}

}  // namespace starling
