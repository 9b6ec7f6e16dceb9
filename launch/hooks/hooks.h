// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace starling::chaos_live {

// Environment variables by which a driver that breaks things reaches into a daemon. Nothing else
// sets them.

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
/// A file that says which faults befall writes (shim/disk_faults.cpp), and where they do.
inline constexpr const char* kDiskVariable = "STARLING_DISK_FAULTS";
inline constexpr const char* kDiskFolderVariable = "STARLING_DISK_FOLDER";
/// A file that says how wrong the daemon's wall clock is (shim/clock_faults.cpp).
inline constexpr const char* kClockVariable = "STARLING_CLOCK_FAULTS";

}  // namespace starling::chaos_live
