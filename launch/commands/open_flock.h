// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "launch/client/flock_client.h"

namespace starling {

/// The flock of --flock, or of $STARLING_FLOCK.
[[nodiscard]] Result<std::unique_ptr<FlockClient>> open_flock(const std::string& flock_option);
/// The same, connected.
[[nodiscard]] Result<std::unique_ptr<FlockClient>> connected_flock(const std::string& flock_option);

}  // namespace starling
