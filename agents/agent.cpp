// SPDX-License-Identifier: Apache-2.0
#include "agents/agent.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "agents/step/step.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {
namespace {

constexpr Duration kSweep = std::chrono::minutes(1);
constexpr Duration kFirstLook = std::chrono::milliseconds(500);
constexpr Duration kLastLook = std::chrono::seconds(60);
constexpr std::uint32_t kTenantsBefore = 2;  // the most that any policy has let share a GPU

}  // namespace

void Step::tell(AgentId to, Message message) {
  if (to == me()) {
    s.loop.push_back(std::move(message));
  } else {
    out.send.push_back({agent_node(to), std::move(message)});
  }
}

SeatState* Step::seat_of(NodeId node) {
  const auto at = s.seat_index.find(node);
  return at == s.seat_index.end() ? nullptr : &s.seats[at->second];
}

Instant Step::retry_at(Duration& backoff) {
  const Timers& timers = s.config.timers;
  backoff = std::clamp(backoff * 2, timers.retry_min, timers.retry_max);
  const Duration half = backoff / 2;
  if (planted(Bug::hidden_input)) {
    return later(
        now,
        half + Duration(static_cast<std::int64_t>(std::bit_cast<std::uintptr_t>(&s) >> 4U) % 1000));
  }
  const auto jitter =
      Duration(static_cast<std::int64_t>(static_cast<double>(half.count()) * s.rng.uniform()));
  return later(now, half + jitter);
}

void Step::change(TriggerKind kind) {
  // Arrivals are what policies most want to know of, then departures.
  if (!s.dirty || kind < s.trigger) s.trigger = kind;
  s.dirty = true;
  s.digest_due = true;
}

Fence Step::fence_of(PartitionId partition) const {
  const PeerState* owner = s.owner_of(partition);
  return {partition, owner == nullptr ? Epoch{} : owner->epoch};
}

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
  if (seat_of(from) != nullptr) {
    on_executor(from, exited);
  } else {
    on_home(from, exited);
  }
}

void Step::on(NodeId from, const Progress& progress) {
  STARLING_MARK("agent: Progress");
  if (seat_of(from) != nullptr) {
    on_executor(from, progress);
  } else {
    on_home(from, progress);
  }
}

namespace {

/// A calendar behind a date of the journal has gone back: it says that date at least. Otherwise
/// jobs would have waited for less than they have, and lose their turn to others.
void put_calendar_right(AgentState& s, Instant now) {
  Duration behind{0};
  for (const auto& [id, job] : s.jobs) {
    if (job.dated) behind = std::max(behind, job.submitted - now);
    if (job.first_start != kNever) behind = std::max(behind, job.first_start - now);
    if (job.waits_since != kNever) behind = std::max(behind, job.waits_since - now);
  }
  if (behind == Duration{0} || !s.config.calendar) return;
  STARLING_MARK("agent: a calendar has gone back");
  *s.config.calendar += behind;
  for (auto& [id, job] : s.jobs) {
    if (job.dated) job.submitted -= behind;
    if (job.first_start != kNever) job.first_start -= behind;
    if (job.waits_since != kNever) job.waits_since -= behind;
  }
}

}  // namespace

/// The first step of a life: what the journal left open goes on.
void Step::begin() {
  STARLING_MARK("agent: begin");
  s.begun = true;
  put_calendar_right(s, now);
  persist(LifeBegan{s.config.incarnation, s.config.epoch});
  std::vector<const Job*> waiting;
  for (auto& [id, job] : s.jobs) {
    job.submitted = job.dated ? std::min(job.submitted, now) : now - job.waited;
    if (job.first_start != kNever) job.first_start = std::min(job.first_start, now);
    if (job.waits_since != kNever) job.waits_since = std::min(job.waits_since, now);
    if (Attempt* attempt = job.attempt()) {
      for (Participant& part : attempt->parts) part.heard = now;
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
        s.enter_running(job);
        send_starts(job);
        break;
      case Stage::draining:
        // Decided in an earlier life, and told by no record before the attempt is over.
        if (job.run()->drain->after == AfterDrain::wait) ++job.preemptions;
        STARLING_MARK("agent: a life begins with a job that drains");
        s.enter_running(job);
        send_releases(job);
        break;
      default:
        break;
    }
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const Job* a, const Job* b) { return a->order < b->order; });
  for (const Job* job : waiting) s.enter_waiting(*job, false);
  for (auto& [attempt, share] : s.shares) {
    if (planted(Bug::successor_relaunches)) launch(attempt, share);
    share.word = now;
    // Our own word is at hand; another home may be about to send Start.
    const bool own = share.home == me();
    s.set_timer(attempt, share, own ? now : later(now, s.config.timers.orphan_query));
  }
  s.ledger.tombstones().date(now);
  s.sweep = now;
  for (SeatState& seat : s.seats) {
    request_inventory(seat);
    if (planted(Bug::allocates_before_inventory)) s.ledger.trust(seat.seat.servers);
  }
  for (const PeerState& peer : s.peers) {
    if (peer.peer.agent == me()) continue;
    greet(peer);
  }
  if (s.lossy()) {
    s.beat = later(now, s.config.timers.heartbeat);
    for (SeatState& seat : s.seats) seat.watch.heard = now;
    for (PeerState& peer : s.peers) peer.watch.heard = now;
  }
  change(TriggerKind::round);
  if (s.config.roll_call > Duration{0}) s.look = s.roll_call = later(now, s.config.roll_call);
}

void Step::tick() {
  STARLING_MARK("agent: tick");
  s.decided = false;
  while (!s.job_timers.empty() && s.job_timers.begin()->first <= now) {
    const JobId id = s.job_timers.begin()->second;
    Job& job = s.jobs.at(id);
    s.set_timer(id, job, kNever);
    on_job_timer(job);
    settle();
  }
  while (!s.share_timers.empty() && s.share_timers.begin()->first <= now) {
    const AttemptId attempt = s.share_timers.begin()->second;
    OwnedShare& share = s.shares.at(attempt);
    s.set_timer(attempt, share, kNever);
    on_share_timer(attempt, share);
    settle();
  }
  lapse();
  for (SeatState& seat : s.seats) {
    if (seat.timer <= now) request_inventory(seat);
  }
  look_at_rests();
  if (s.beat <= now) {
    heartbeat();
    look_for_turn();
    settle();  // what was lost with an executor is over for its home before anything is decided
  }
  if (s.claim && s.claim->until <= now) end_claim(s.claim->attempt);
  if (later(s.sweep, kSweep) <= now) sweep();
  if (s.look <= now) change(TriggerKind::round);
  if (s.dirty && !s.calling_roll()) {
    s.roll_call = std::min(s.roll_call, now);
    decide();
  }
  settle();
  put_away();
  if (s.digest_due || s.digest_look <= now) send_digests();
}

namespace {

/// After a round that failed policies ask around again when they think fit, and nothing tells when:
/// so they are asked soon, twice as late each time, until the rare looks of decide() do.
Instant next_look(AgentState& s, Job& job) {
  if (!s.lossy() || job.failed_rounds == 0) return kNever;
  job.backoff = std::max(2 * job.backoff, kFirstLook);
  if (job.backoff > kLastLook) return kNever;
  const auto jitter = static_cast<double>(job.backoff.count()) / 2 * s.rng.uniform();
  return later(s.now, job.backoff / 2 + Duration(static_cast<std::int64_t>(jitter)));
}

}  // namespace

void Step::on_job_timer(Job& job) {
  STARLING_MARK("agent: on_job_timer");
  switch (job.stage()) {
    case Stage::waiting:
      if (JobView* view = s.waiting_view(job)) {
        view->blocked = false;
        change(TriggerKind::arrival);
        s.set_timer(job.spec->id, job, next_look(s, job));
      }
      break;
    case Stage::offered:
      send_offer(job);
      break;
    case Stage::bidding:
      if (job.round()->claimed.empty()) {
        choose(job);
      } else if (job.round()->deadline <= now) {
        end_turn(job, std::nullopt);
      } else {
        claim(job);
      }
      break;
    case Stage::reserving:
    case Stage::committing:
      if (job.round()->deadline <= now) {
        STARLING_MARK("agent: a round runs out of time");
        abort_round(job, "no answer within the hold time");
      } else if (!job.round()->committing) {
        send_reserves(job);
      } else {
        send_commits(job);
      }
      break;
    case Stage::starting:
      if (job.run()->deadline <= now) {
        STARLING_MARK("agent: a start runs out of time");
        job.trouble = "not every partition had started it in time";
        drain(job, AfterDrain::retry);
      } else if (any_lost(job)) {
        count_lost(job);
      } else {
        send_starts(job);
      }
      break;
    case Stage::running:
      any_lost(job) ? count_lost(job) : watch_participants(job);
      break;
    case Stage::draining:
      any_lost(job) ? count_lost(job) : send_releases(job);
      break;
  }
}

void Step::on_share_timer(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: on_share_timer");
  const Hold* hold = s.ledger.find(attempt);
  if (hold->phase != HoldPhase::releasing && unwanted(share)) {
    release_share(attempt, share);
  } else if (share.told) {
    tell_exited(attempt, share);
  } else if (hold->phase == HoldPhase::committed) {
    ask_home(attempt, share);
  } else if (hold->phase == HoldPhase::releasing) {
    send_kills(attempt, share);
  } else {
    const auto in = [&](Piece::State state) {
      return std::any_of(share.pieces.begin(), share.pieces.end(),
                         [&](const Piece& piece) { return piece.state == state; });
    };
    if (in(Piece::State::unknown) || !share.home_known) {
      if (planted(Bug::launched_freed_on_silence)) {
        s.ledger.release(attempt, Duration{0});
        return s.drop_share(attempt);
      }
      ask_home(attempt, share);
    } else if (in(Piece::State::launching)) {
      if (later(share.launched, s.config.timers.start) <= now) {
        fail_share(attempt, share, {0, true, "an executor did not answer in time"});
      } else {
        send_launches(attempt, share, Piece::State::launching);
      }
    } else if (s.lossy() && s.remote_home(share)) {
      ask_home(attempt, share);
    }
  }
}

Agent::Agent(AgentConfig config, const Topology& topology, const SpeedModel& speed,
             std::unique_ptr<Policy> policy, Rng rng, std::span<const Record> recovered)
    : state_(std::make_unique<AgentState>(std::move(config), topology, speed, std::move(policy),
                                          rng)) {
  for (const Record& record : recovered) state_->replay(record);
  if (!state_->overfull) return;
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
  const bool decides = s.dirty && !s.calling_roll();
  const bool tells = s.digest_due && s.peers.size() > 1;
  if (!s.begun || decides || tells || s.archive_full()) return Instant::min();
  Instant next = std::min({s.beat, s.look, s.digest_look});
  if (!s.job_timers.empty()) next = std::min(next, s.job_timers.begin()->first);
  if (!s.share_timers.empty()) next = std::min(next, s.share_timers.begin()->first);
  if (!s.lapses.empty()) next = std::min(next, s.lapses.begin()->first);
  if (s.claim) next = std::min(next, s.claim->until);
  for (const SeatState& seat : s.seats) next = std::min({next, seat.timer, seat.starts.next()});
  return next;
}

Agent Agent::clone() const { return Agent(std::make_unique<AgentState>(*state_)); }

const AgentConfig& Agent::config() const noexcept { return state_->config; }
const AgentState& Agent::state() const noexcept { return *state_; }
AgentStatus Agent::status() const { return status_of(*state_); }
void Agent::note_refused_frame() noexcept { ++state_->counters.refused_frames; }

void Agent::note_decision_time(Duration took) noexcept {
  if (!std::exchange(state_->decided, false)) return;
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 4));
  const auto octave = static_cast<std::size_t>(std::bit_width(ns)) - 1;
  const std::size_t quarter = (ns >> (octave - 2)) & 3U;
  ++state_->decision_times[std::min<std::size_t>(octave * 4 + quarter, 255)];
}

}  // namespace starling
