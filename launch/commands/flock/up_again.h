// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/time.h"
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

/// `conflict` if most of the ports where daemons of this flock listen are another program's before
/// any of them has been started, and stay so for `patience` (daemons whose `up` was killed take a
/// moment to end): the directory is a copy of that of a flock that is up. Its daemons answer with
/// the copy's keys, so an `up` beside it would call them its own, and take the place of each that
/// ends with an old journal. A single port that is taken costs its daemon, and is not told here.
[[nodiscard]] Status is_free(const Deployment& flock, Duration patience);

}  // namespace starling
