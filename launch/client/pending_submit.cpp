// SPDX-License-Identifier: Apache-2.0
#include "launch/client/pending_submit.h"

#include <utility>
#include <variant>

#include "launch/client/fresh_ids.h"

namespace starling {

bool is_same_job(const JobState& there, const JobSpec& spec) {
  if (there.ask == nullptr) return true;
  JobAsk asked = *ask_of(spec);
  asked.user = there.ask->user;
  if (!there.ask->run.any()) asked.run = {};  // nor would a home of an older version know it
  if (!there.ask->terms.any()) asked.terms = {};
  asked.terms.begin = there.ask->terms.begin;  // counted from when it was said
  asked.terms.after = there.ask->terms.after;  // what has ended meanwhile is left out
  return asked == *there.ask;
}

PendingSubmit::PendingSubmit(const Session& session, JobSpec job)
    : job_(std::move(job)), agent_(first_home(session, job_.id)), again_(Session::now()) {}

void PendingSubmit::say(Session& session) {
  session.send(agent_node(agent_), Submit{job_, session.me()});
  again_ = Session::now() + Session::kRepeat;
}

std::optional<Result<SubmittedJob>> PendingSubmit::heard(const Received& received) {
  if (received.from != agent_node(agent_)) return std::nullopt;
  if (const auto* no = std::get_if<Rejected>(&received.message);
      no != nullptr && no->job == job_.id && no->why != Refusal::conflict) {
    return Result<SubmittedJob>(
        Errc::invalid, (job_.name.empty() ? "it" : job_.name) +
                           " is refused: " + (no->reason.empty() ? name_of(no->why) : no->reason));
  }
  if (const auto* busy = std::get_if<Busy>(&received.message);
      busy != nullptr && busy->job == job_.id) {
    again_ = Session::now() + std::chrono::milliseconds(busy->retry_ms);
    busy_ = true;
  }
  const auto* accepted = std::get_if<Accepted>(&received.message);
  if (accepted != nullptr && accepted->job == job_.id) return Result<SubmittedJob>(SubmittedJob{});
  const auto* state = std::get_if<JobState>(&received.message);
  if (state != nullptr && state->job == job_.id)
    return Result<SubmittedJob>(SubmittedJob{terminal(state->phase)});
  return std::nullopt;
}

std::optional<JobId> job_in(const Message& message) {
  if (const auto* accepted = std::get_if<Accepted>(&message)) return accepted->job;
  if (const auto* rejected = std::get_if<Rejected>(&message)) return rejected->job;
  if (const auto* busy = std::get_if<Busy>(&message)) return busy->job;
  if (const auto* state = std::get_if<JobState>(&message)) return state->job;
  return std::nullopt;
}

Error PendingSubmit::silence() const {
  if (busy_)
    return {Errc::busy,
            "agent " + std::to_string(agent_.value) +
                " takes no job now: it has as many as it may have, or its disk is full"};
  return {Errc::not_ready, silence_text({agent_}) +
                               "; is the flock up? The job may still be "
                               "accepted: see 'starling jobs'"};
}

}  // namespace starling
