// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agents/message.h"
#include "base/ids.h"
#include "base/result.h"
#include "launch/client/session.h"

namespace starling {

/// Tells the owner of a server to drain it or to use it again, until that is durable; asked again
/// with the version that it answered with, says how many attempts are left. `not_ready`: the owner
/// does not answer, or has not confirmed it; `unsupported`: it knows no drains; `invalid`: it
/// refuses; `conflict`: somebody has said something else since.
[[nodiscard]] Result<DrainState> say_drain(Session& session, AgentId owner, const SetDrain& word);

}  // namespace starling
