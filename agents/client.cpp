// SPDX-License-Identifier: Apache-2.0
#include "agents/client.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace starling {
namespace {
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
// A job that runs for days is asked about every few minutes, so that a lost ending is found.
constexpr int kLongestSilence = 60;  // times Timers::retry_max
// A home that has said nothing of a job by then never will; what became of it is not known here.
constexpr Duration kPatience = std::chrono::hours(1);

/// What a home says at one instant, in the order in which it happened there: attempts, and within
/// one it starts, runs, is stopped, and waits again.
std::pair<std::uint32_t, int> step_of(const JobState& state) {
  static constexpr JobPhase kOrder[] = {JobPhase::starting, JobPhase::running, JobPhase::draining,
                                        JobPhase::waiting};
  const auto* at = std::find(std::begin(kOrder), std::end(kOrder), state.phase);
  return {state.attempts, static_cast<int>(at - std::begin(kOrder))};
}

/// No newer than what is known. Each time that a job comes to a home it has been forwarded more
/// often; until it leaves its elapsed time only grows, but for what its home says at one instant.
bool is_overtaken(const JobState& state, const JobState& known) {
  if (terminal(state.phase)) return false;
  if (state.forwards != known.forwards || known.phase == JobPhase::unknown)
    return state.forwards < known.forwards;
  if (state.elapsed != known.elapsed) return state.elapsed < known.elapsed;
  return step_of(state) < step_of(known);
}
}  // namespace

Client::Client(ClientConfig config, Rng rng) : config_(std::move(config)), rng_(rng) {
  std::sort(config_.agents.begin(), config_.agents.end());
}

void Client::submit(Instant due, JobSpec spec, AgentId first_home) {
  const std::size_t i = outcomes_.size();
  if (!index_.emplace(spec.id, i).second) return;
  JobOutcome outcome;
  outcome.job = spec.id;
  outcome.due = due;
  outcome.home = first_home;
  outcomes_.push_back(std::move(outcome));
  errands_.emplace_back();
  errands_.back().spec = std::move(spec);
  ++counts_.jobs;
  schedule(i, due);
}

void Client::cancel(JobId job) {
  const std::size_t i = index_of(job);
  if (i == kNone || outcomes_[i].over()) return;
  outcomes_[i].cancelled = true;
  errands_[i].backoff = Duration{0};
  schedule(i, Instant::min());
}

void Client::ask(AgentId agent, Message question) {
  questions_.emplace_back(agent, std::move(question));
}

void Client::step(Instant now, const Event& event, Output& out) {
  if (const auto* received = std::get_if<Received>(&event)) {
    const NodeId from = received->from;
    const bool agent =
        from.value > 0 &&
        std::binary_search(config_.agents.begin(), config_.agents.end(), AgentId{from.value - 1});
    if (!agent) {
      ++counts_.refused_frames;
    } else if (const auto* state = std::get_if<JobState>(&received->message)) {
      on(from, *state, now);
    } else if (const auto* accepted = std::get_if<Accepted>(&received->message)) {
      on(*accepted, now);
    } else if (const auto* busy = std::get_if<Busy>(&received->message)) {
      on(*busy, now);
    } else if (const auto* rejected = std::get_if<Rejected>(&received->message)) {
      on(*rejected, now);
    } else {
      ++counts_.answers;
      const auto* queues = std::get_if<QueuesState>(&received->message);
      const bool newest =
          queues != nullptr && (!queues_ || queues->tree.version >= queues_->tree.version);
      if (newest) queues_ = *queues;
    }
  }
  for (auto& [agent, question] : questions_)
    out.send.push_back({agent_node(agent), std::move(question)});
  questions_.clear();
  while (!due_.empty() && due_.top().first <= now) {
    const auto [when, i] = due_.top();
    due_.pop();
    if (errands_[i].when == when) visit(i, now, out);
  }
  while (!due_.empty() && errands_[due_.top().second].when != due_.top().first) due_.pop();
}

Instant Client::next_deadline() const noexcept {
  if (!questions_.empty()) return Instant::min();
  return due_.empty() ? kNever : due_.top().first;
}

const JobOutcome* Client::find(JobId job) const {
  const std::size_t i = index_of(job);
  return i == kNone ? nullptr : &outcomes_[i];
}

std::size_t Client::index_of(JobId job) const {
  const auto at = index_.find(job);
  return at == index_.end() ? kNone : at->second;
}

void Client::schedule(std::size_t i, Instant when) {
  errands_[i].when = when;
  if (when < kNever) due_.emplace(when, i);
}

/// Doubling, full jitter above half: never at once, never in step with others.
void Client::retry(std::size_t i, Instant now, Duration at_least) {
  Errand& errand = errands_[i];
  errand.backoff =
      std::clamp(errand.backoff * 2, config_.timers.retry_min, config_.timers.retry_max);
  const Duration half = std::max(errand.backoff, at_least) / 2;
  const auto jitter =
      Duration(static_cast<std::int64_t>(static_cast<double>(half.count()) * rng_.uniform()));
  schedule(i, later(now, std::max(at_least, half) + jitter));
}

/// Does what is due for a job: submit, cancel or ask.
void Client::visit(std::size_t i, Instant now, Output& out) {
  JobOutcome& job = outcomes_[i];
  Errand& errand = errands_[i];
  errand.when = kNever;
  if (job.over()) return;
  const NodeId home = agent_node(job.home);
  if (job.cancelled && !job.sent) {
    job.state.phase = JobPhase::cancelled;
    return end(i, now);
  }
  if (!job.accepted) {
    const Instant heard = job.cancelled ? job.due : std::max(job.due, errand.busy);
    if (job.sent && lossy() && later(heard, kPatience) <= now) {
      job.rejected = true;
      job.reason = "no agent has taken it within an hour; whether one did is not known";
      return end(i, now);
    }
    job.sent ? ++counts_.repeats : ++counts_.sent;
    job.sent = true;
    out.send.push_back({home, Submit{errand.spec, config_.me}});
    return retry(i, now, Duration{0});
  }
  if (job.cancelled) {
    out.send.push_back({home, Cancel{job.job}});
    const bool long_ago = lossy() && later(errand.accepted, kPatience) <= now;
    return retry(i, now, long_ago ? config_.timers.retry_max * kLongestSilence : Duration{0});
  }
  errand.asked = true;
  ++counts_.repeats;
  out.send.push_back({home, Query{job.job}});
  wait_for_news(i, now, false);
}

void Client::accept(std::size_t i, Instant now) {
  JobOutcome& job = outcomes_[i];
  if (job.accepted) return;
  job.accepted = true;
  ++counts_.accepted;
  errands_[i].accepted = now;
  errands_[i].spec = JobSpec{};
}

void Client::wait_for_news(std::size_t i, Instant now, bool fresh) {
  if (outcomes_[i].cancelled) return;  // visited for the cancellation anyway
  if (!lossy()) return schedule(i, kNever);
  Errand& errand = errands_[i];
  const Duration least = config_.timers.retry_max;
  errand.backoff = fresh ? least : std::clamp(errand.backoff * 2, least, least * kLongestSilence);
  schedule(i, later(now, errand.backoff));
}

void Client::on(const Accepted& accepted, Instant now) {
  const std::size_t i = index_of(accepted.job);
  if (i == kNone || outcomes_[i].accepted || outcomes_[i].over()) return;
  accept(i, now);
  outcomes_[i].home = accepted.home;
  if (outcomes_[i].cancelled) {
    errands_[i].backoff = Duration{0};
    return schedule(i, now);
  }
  wait_for_news(i, now, true);
}

void Client::on(const Busy& busy, Instant now) {
  const std::size_t i = index_of(busy.job);
  if (i == kNone || outcomes_[i].accepted || outcomes_[i].over()) return;
  ++counts_.busy;
  errands_[i].busy = now;
  retry(i, now, std::chrono::milliseconds(busy.retry_ms));
}

void Client::on(const Rejected& rejected, Instant now) {
  if (rejected.why == Refusal::conflict) return;  // of a ChangeJob
  const std::size_t i = index_of(rejected.job);
  if (i == kNone || outcomes_[i].accepted || outcomes_[i].over()) return;
  outcomes_[i].rejected = true;
  outcomes_[i].reason =
      rejected.reason.empty() ? std::string(name_of(rejected.why)) : rejected.reason;
  end(i, now);
}

/// Word from the home, or from the next home that has taken the job over. A job only goes on at one
/// home and the number of forwards only grows between homes, so an overtaken state is recognised
/// and dropped.
void Client::on(NodeId from, const JobState& state, Instant now) {
  const std::size_t i = index_of(state.job);
  if (i == kNone || outcomes_[i].over() || state.phase == JobPhase::unknown) return;
  JobOutcome& job = outcomes_[i];
  const bool at_home = from == agent_node(job.home);
  if (state.phase == JobPhase::moved) {
    if (!at_home) return;
    accept(i, now);
    job.home = state.home;
    job.state.forwards = std::max(job.state.forwards, state.forwards);
    return wait_for_news(i, now, true);
  }
  const bool next_home = from == agent_node(state.home) && state.forwards > job.state.forwards;
  if (!at_home && !next_home) return;
  if (at_home && is_overtaken(state, job.state)) return;
  accept(i, now);
  job.home = state.home;
  job.state = state;
  take(i, now);
}

void Client::take(std::size_t i, Instant now) {
  JobOutcome& job = outcomes_[i];
  Errand& errand = errands_[i];
  const JobState& state = job.state;
  // An answer tells when it happened; unasked word is told when it happens.
  const auto then = [&](Duration since) {
    return errand.asked && since > Duration{0} ? std::min(now, later(errand.accepted, since)) : now;
  };
  const bool ran = state.phase == JobPhase::running || state.phase == JobPhase::finished ||
                   (terminal(state.phase) && state.served > Duration{0});
  if (ran && job.started == kNever) {
    job.started = state.phase == JobPhase::running
                      ? then(state.queued)
                      : std::min(now, later(errand.accepted, state.queued));
    ++counts_.started;
  }
  if (terminal(state.phase)) {
    end(i, then(state.elapsed));
  } else {
    errand.asked = false;
    wait_for_news(i, now, true);
  }
}

void Client::end(std::size_t i, Instant now) {
  JobOutcome& job = outcomes_[i];
  job.ended = now;
  errands_[i].spec = JobSpec{};
  schedule(i, kNever);
  if (job.rejected) {
    ++counts_.rejected;
  } else if (job.state.phase == JobPhase::finished) {
    ++counts_.finished;
  } else if (job.state.phase == JobPhase::failed) {
    ++counts_.failed;
  } else {
    ++counts_.cancelled;
  }
}

}  // namespace starling
