// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "agents/config.h"
#include "agents/record.h"
#include "base/result.h"
#include "launch/deployment/deployment.h"

namespace starling {

/// What was done about a node's state that lacks records.
struct AcceptedLoss {
  std::uint64_t records = 0;   ///< that are left
  std::uint64_t known = 0;     ///< number of the last one that was ever durable; 0: not known
  std::size_t failed = 0;      ///< jobs that were open, and fail with an unknown outcome
  std::size_t given_away = 0;  ///< jobs that were given to another home, which has them, or
                               ///< of which it cannot be said
  std::filesystem::path kept;  ///< folder with the files as they were; etcd's state: a file
};

/// Goes on from the records of node `config` that can still be read, on purpose: nothing that was
/// open in them is ever started again (agents/accept_loss.h), and the next life's number and the
/// journal's stand above all that peers may know. The node must not run. `not_found` if nothing
/// says that anything is lost; then nothing has changed. May be interrupted and called again.
[[nodiscard]] Result<AcceptedLoss> accept_loss(const std::filesystem::path& config, Role role);

/// What all kinds of state have in common. So many lives are left out that no peer knows one above
/// them: more than a node begins in a month if it ends once an hour.
inline constexpr std::uint64_t kSkippedLives = 1'000;
/// The records that end what is open in `records`, for an agent; counts the jobs in `loss`. `read`
/// reads the journal of another agent; an error where it cannot be told now what is in it.
[[nodiscard]] std::vector<Record> end_what_is_open(
    const DeployedNode& me, const std::vector<Record>& records, AcceptedLoss& loss,
    const std::function<Result<std::vector<Record>>(AgentId)>& read);
/// `not_found`: nothing is lost.
[[nodiscard]] Error no_loss(const DeployedNode& me);

/// For people: what was done, in a sentence or two.
[[nodiscard]] std::string text_of(const AcceptedLoss& loss, const std::string& node);

}  // namespace starling
