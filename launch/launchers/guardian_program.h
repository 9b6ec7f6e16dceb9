// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "base/result.h"

namespace starling {

/// Starts the guardian of the part in `folder` (launch/guardian/guardian.h): a child of this
/// process, in a session of its own, with nothing of ours but the environment. It lives on when we
/// end. `io`: no process could be made.
[[nodiscard]] Result<pid_t> start_guardian(const std::filesystem::path& folder);

}  // namespace starling
