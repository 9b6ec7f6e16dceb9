// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "launch/deployment/deployment.h"

namespace starling {

/// Of a flock that goes on with the jobs of one whose directory is lost: agents know the lost
/// executors' lives and how far their journals were, and would take new ones for old copies. So the
/// executors of this machine begin beyond whatever can be known: lives at the seconds of the
/// calendar, records at 2^20 a second. Those of other hosts say so when they start, and go on by
/// 'starling accept-loss'.
[[nodiscard]] Status begin_beyond_the_lost(const Deployment& flock);

}  // namespace starling
