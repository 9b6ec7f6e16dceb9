// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "launch/commands/flock/up.h"
#include "launch/deployment/deployment.h"

namespace starling {

/// A flock is what its first `up` made it. Whether what a later one was told says the same:
/// `invalid` names each option that does not, both values, and how the flock is changed.
[[nodiscard]] Status fits_flock(const UpOptions& o, const Deployment& flock,
                                const Topology& topology);

/// `conflict`, of a flock that another `up` watches over (StateDir::take of its `supervisor` was
/// `why`): since when, which process, which of the options would be other ones, and what can be
/// done.
[[nodiscard]] Error is_up_already(const UpOptions& o, const std::filesystem::path& dir,
                                  const Error& why);

}  // namespace starling
