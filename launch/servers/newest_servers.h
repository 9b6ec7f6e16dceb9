// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "launch/deployment/deployment.h"

namespace starling {

/// That the flock's description is not an earlier one than the flock has, as etcd knows it; from
/// here on etcd knows this one. For an agent that has just taken a partition of a flock with state
/// in etcd, where a copy of the flock's directory may be anywhere. `invalid`: it is an earlier one;
/// nothing may be written by it. Nothing for flocks without state in etcd.
[[nodiscard]] Status newest_servers(const Deployment& flock);

}  // namespace starling
