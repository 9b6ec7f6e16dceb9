// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "launch/client/flock_client.h"
#include "launch/client/session.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

bool is_open(const CancelledJob& job) { return !terminal(job.state.phase) && job.denied.empty(); }

/// Puts what `received` says of one of the jobs there.
void take(const Received& received, std::vector<CancelledJob>& jobs) {
  const auto* no = std::get_if<Rejected>(&received.message);
  const auto* state = std::get_if<JobState>(&received.message);
  for (CancelledJob& job : jobs) {
    if (no != nullptr && no->why == Refusal::denied && no->job == job.state.job)
      job.denied = no->reason.empty() ? name_of(no->why) : no->reason;
    if (state == nullptr || state->job != job.state.job ||
        received.from != agent_node(job.state.home) || !is_open(job))
      continue;
    if (state->phase == JobPhase::moved) job.state.home = state->home;
    if (terminal(state->phase)) job.state = *state;
  }
}

}  // namespace

Result<std::vector<CancelledJob>> FlockClient::cancel(std::vector<JobState> jobs,
                                                      Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  std::vector<CancelledJob> ending;
  ending.reserve(jobs.size());
  for (JobState& state : jobs) ending.push_back({std::move(state)});
  const auto any_open = [&] { return std::any_of(ending.begin(), ending.end(), is_open); };
  const Instant until = later(Session::now(), patience);
  while (Session::now() < until && !stop_requested() && any_open()) {
    for (const CancelledJob& job : ending) {
      if (is_open(job)) session_->send(agent_node(job.state.home), Cancel{job.state.job});
    }
    const Instant again = std::min(until, Session::now() + Session::kRepeat);
    while (any_open()) {
      const auto received = session_->receive(again);
      if (!received) break;
      take(*received, ending);
    }
  }
  return ending;
}

}  // namespace starling
