// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "launch/client/flock_client.h"
#include "launch/client/session.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

bool is_asked(const ChangedJob& job) { return !job.done && job.refused.empty(); }

/// Whether the job is as it was to become.
bool shows(const JobState& state, const JobState& before, JobChange change) {
  if (state.phase == JobPhase::unknown || state.phase == JobPhase::moved) return false;
  const bool held = state.reason == JobReason::held;
  const bool same =
      state.attempt_epoch == before.attempt_epoch && state.attempt_number == before.attempt_number;
  const bool runs = state.phase == JobPhase::running || state.phase == JobPhase::starting;
  switch (change) {
    case JobChange::hold:
      return held || state.phase == JobPhase::draining;
    case JobChange::release:
      return !held;
    default:
      return !(runs && same);
  }
}

void take_answer(const Received& received, JobChange change, std::vector<ChangedJob>& jobs) {
  const auto* no = std::get_if<Rejected>(&received.message);
  const auto* state = std::get_if<JobState>(&received.message);
  for (ChangedJob& job : jobs) {
    if (!is_asked(job) || received.from != agent_node(job.state.home)) continue;
    if (no != nullptr && no->job == job.state.job)
      job.refused = no->reason.empty() ? name_of(no->why) : no->reason;
    if (state == nullptr || state->job != job.state.job) continue;
    if (state->phase == JobPhase::moved) {
      job.state.home = state->home;
    } else if (terminal(state->phase)) {
      job.refused = "job " + to_string(state->job) + " has ended: " + state_name(*state);
    } else if (shows(*state, job.state, change)) {
      job.done = true;
      if (state->ask != nullptr) job.state = *state;
    }
  }
}

}  // namespace

Result<std::vector<ChangedJob>> FlockClient::change(std::vector<JobState> jobs, JobChange change,
                                                    Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  std::vector<ChangedJob> changing;
  changing.reserve(jobs.size());
  for (JobState& state : jobs) changing.push_back({std::move(state), false, {}});
  const auto any_asked = [&] { return std::ranges::any_of(changing, is_asked); };
  const Instant until = later(Session::now(), patience);
  while (Session::now() < until && !stop_requested() && any_asked()) {
    for (ChangedJob& job : changing) {
      if (!is_asked(job)) continue;
      const NodeId home = agent_node(job.state.home);
      const std::uint16_t speaks = session_->spoken_with(home);
      if (speaks > kOldestProtocol && speaks < kTermsProtocol) {
        job.refused = "agent-" + std::to_string(job.state.home.value) +
                      " is of an earlier version, which knows no " + name_of(change);
      } else if (speaks < kTermsProtocol) {
        session_->send(home, StatusQuery{});  // a sign of life, which says what it speaks
      } else {
        session_->send(home, ChangeJob{job.state.job, change, job.state.attempt_epoch,
                                       job.state.attempt_number});
      }
    }
    const Instant again = std::min(until, Session::now() + Session::kRepeat);
    while (any_asked()) {
      const auto received = session_->receive(again);
      if (!received) break;
      take_answer(*received, change, changing);
      if (std::holds_alternative<AgentStatus>(received->message)) break;
    }
  }
  return changing;
}

}  // namespace starling
