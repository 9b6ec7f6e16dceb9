// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "launch/client/client_answers.h"
#include "launch/client/session.h"
#include "workload/job.h"

namespace starling {

/// Is `there` what `spec` asks for, so that submitting that was a repeat? Whose it is, the home
/// knows. True, too, where `there` does not say what it asks for.
[[nodiscard]] bool is_same_job(const JobState& there, const JobSpec& spec);

/// Which job an answer to a Submit is about; nothing: it is no such answer.
[[nodiscard]] std::optional<JobId> job_in(const Message& message);

/// One job on its way to its home: says it, says it again where nothing is heard, and knows the
/// answer. For callers that wait for one and for those with many under way over one session.
class PendingSubmit {
 public:
  /// `job` has its id.
  PendingSubmit(const Session& session, JobSpec job);

  [[nodiscard]] const JobSpec& job() const noexcept { return job_; }
  [[nodiscard]] AgentId agent() const noexcept { return agent_; }
  /// When it has to be said the next time.
  [[nodiscard]] Instant due() const noexcept { return again_; }
  /// Says it, and the next time when no answer has come for Session::kRepeat.
  void say(Session& session);
  /// What `received` says of it, if anything final. `invalid`: refused, and why.
  [[nodiscard]] std::optional<Result<SubmittedJob>> heard(const Received& received);
  /// Its home has not answered, or cannot take it at present.
  [[nodiscard]] Error silence() const;

 private:
  JobSpec job_;
  AgentId agent_;
  Instant again_;
  bool busy_ = false;  // its home has said so
};

}  // namespace starling
