// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <variant>

#include "launch/client/flock_client.h"
#include "launch/client/fresh_ids.h"
#include "launch/client/pending_submit.h"
#include "launch/client/placeable.h"
#include "launch/client/session.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

/// Its home would start a job too early if it were of an earlier version, so that one is not told.
Status knows_terms(Session& session, AgentId home, Instant until) {
  const NodeId node = agent_node(home);
  const auto any = [](const AgentStatus&) { return true; };
  if (session.spoken_with(node) < kTermsProtocol)
    (void)session.ask<AgentStatus>(node, StatusQuery{}, until - Session::now(), any);
  const std::uint16_t speaks = session.spoken_with(node);
  if (speaks >= kTermsProtocol) return done();
  if (speaks == kOldestProtocol)
    return {Errc::not_ready, silence_text({home}) + "; is the flock up?"};
  return {Errc::invalid, "agent-" + std::to_string(home.value) +
                             " is of an earlier version, which knows neither --hold, --begin, "
                             "--after nor arrays; upgrade the flock first"};
}

}  // namespace

Status FlockClient::can_run(JobSpec& job) const {
  if (Status spelled = spell_gpu_types(topology_, job); !spelled.ok()) return spelled;
  if (job.command.empty() && deployment_->launcher == "process") {
    return {Errc::invalid,
            "a duration alone is emulated, and this flock starts processes; give it a command"};
  }
  if (!job.command.empty() && job.duration == Duration::zero() &&
      deployment_->launcher == "emulated") {
    return {Errc::invalid,
            "this flock emulates jobs, and it does not say for how long; give it a duration "
            "(--duration TIME, duration_s in a job file)"};
  }
  return can_ever_fit(topology_, job);
}

Status FlockClient::set_user(JobSpec& job) {
  if (Status s = connect(); !s.ok()) return s;
  const Asker& holder = session_->holder();
  if (job.user.empty()) job.user = session_->user();
  if (holder.user.empty() || holder.user == "root" || job.user == holder.user) return done();
  return {Errc::invalid, (job.name.empty() ? "it" : job.name) + " is said to be of user '" +
                             job.user + "', and this is the key of '" + holder.user +
                             "'; only root submits for others"};
}

Result<JobId> FlockClient::new_id(Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  return ids_->next(patience);
}

Result<SubmittedJob> FlockClient::submit(const JobSpec& job, Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  if (!job.array_tasks.empty())
    return {Errc::invalid, job.name + " is an array; its tasks are submitted (expand_array)"};
  PendingSubmit pending(*session_, job);
  const Instant until = later(Session::now(), patience);
  if (job.terms.delays()) {
    if (Status knows = knows_terms(*session_, first_home(*session_, job.id), until); !knows.ok())
      return knows.error();
  }
  while (Session::now() < until && !stop_requested()) {
    if (Session::now() >= pending.due()) pending.say(*session_);
    const auto received = session_->receive(std::min(pending.due(), until));
    if (!received) continue;
    if (auto answer = pending.heard(*received)) return *std::move(answer);
  }
  return pending.silence();
}

std::optional<JobState> FlockClient::instead_of(const JobSpec& spec, const SubmittedJob& said,
                                                Duration patience) {
  auto there = job(spec.id, patience);
  if (!there) return std::nullopt;  // its home has answered, and is silent now
  const JobState& state = there.value();
  if (!said.over && is_same_job(state, spec)) return std::nullopt;
  return std::move(there).value();
}

}  // namespace starling
