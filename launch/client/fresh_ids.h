// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "launch/client/session.h"

namespace starling {

/// The agent that a job of this id is offered to, always: so an id that is submitted again goes
/// where it went before, and no two agents are ever offered the same job.
[[nodiscard]] AgentId first_home(const Session& session, JobId id);

/// A fresh id; of the homes that it could have, one of those that answer.
class FreshIds {
 public:
  explicit FreshIds(Session& session) : session_(session), answered_(session.agents(), 0) {}

  /// Asks all agents for a sign of life; a home is drawn, and given up for another once that has
  /// answered and it has not for 0.3 s more. `not_ready` if none does within `patience`: on a
  /// crowded machine the first connection alone may take seconds.
  [[nodiscard]] Result<JobId> next(Duration patience);

 private:
  void ask();

  Session& session_;
  std::vector<char> answered_;
  Instant first_answer_ = kNever;
  bool others_will_do_ = false;
};

}  // namespace starling
