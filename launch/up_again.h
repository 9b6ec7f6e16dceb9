#pragma once

#include "base/result.h"
#include "launch/commands/up.h"
#include "launch/deployment.h"

namespace starling {

/// A flock is what its first `up` made it. Whether what a later one was told says the same:
/// `invalid` names each option that does not, both values, and how the flock is changed.
[[nodiscard]] Status fits_flock(const UpOptions& o, const Deployment& flock,
                                const Topology& topology);

}  // namespace starling
