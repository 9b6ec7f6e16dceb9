// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "base/result.h"

namespace starling {

// The file `alive` in the folder of a part. Its guardian locks it before the first worker, and all
// processes of the part inherit that lock with an open descriptor, whatever session, parent and
// environment they have later. So while it is locked a process of the part may be left, also when
// guardian and executor were killed; a process that closes the descriptor is not found by it.

/// The descriptor, locked, which this process's children inherit only where they are told to.
[[nodiscard]] Result<int> lock_life(const std::filesystem::path& folder);

/// SIGKILL to the processes of `user` that have the lock: a job can hand its descriptor to another
/// user's process, which is spared, and while that has it the lock is not free. True: it is free,
/// or was never taken. Where it cannot be told, it is not free.
bool kill_life_holders(const std::filesystem::path& folder, uid_t user);

}  // namespace starling
