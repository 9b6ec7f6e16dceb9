// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace starling::chaos_live {

// Environment variables by which `chaos live` reaches into the daemons of the flock that it made
// for that (Deployment::for_chaos). In any other flock a daemon or command that finds one of them
// ends with exit code 2 (no_hooks), and none is ever obeyed: the first of them stands in for the
// list of those that are let in.

/// The daemon's own address book, in the format of flock.json: in it other members' addresses are
/// those of links that can be cut.
inline constexpr const char* kMembersVariable = "STARLING_MEMBERS";
/// Where the daemon finds etcd, instead of the deployment's `state`.
inline constexpr const char* kStateVariable = "STARLING_STATE";
/// Shorter timers, the same for every daemon of the flock: `NAME SECONDS`, again and again, of
/// orphan, kill_grace, late.
inline constexpr const char* kTimersVariable = "STARLING_TIMERS";
/// A file that says which faults befall frames that the daemon sends (faulty_endpoint.h).
inline constexpr const char* kFramesVariable = "STARLING_FRAME_FAULTS";
// Those below are not this program's: they are read by what `chaos live` loads before libc.

/// A file that says which faults befall writes (shim/disk_faults.cpp), and where they do.
inline constexpr const char* kDiskVariable = "STARLING_DISK_FAULTS";
inline constexpr const char* kDiskFolderVariable = "STARLING_DISK_FOLDER";
/// A file that says how wrong the daemon's wall clock is (shim/clock_faults.cpp).
inline constexpr const char* kClockVariable = "STARLING_CLOCK_FAULTS";

/// What the environment of a process of a flock says under `variable`; null where it says nothing,
/// or where the flock was not made `for_chaos`.
[[nodiscard]] const char* hook(bool for_chaos, const char* variable);
/// Done; or, in a flock that was not made `for_chaos`, `invalid`: one of the variables that this
/// program reads is set.
[[nodiscard]] Status no_hooks(bool for_chaos);

}  // namespace starling::chaos_live
