// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// Held in the flock's directory by the command that restarts it host by host.
inline constexpr const char* kRestartLock = "restart";

/// In a flock's directory: what an `up` in the background says.
inline constexpr const char* kUpLog = "up.log";

/// `invalid` unless a flock can be made in `dir`: it has to be absent or empty, but for what an
/// `up` that came to nothing left behind.
[[nodiscard]] Status can_take_folder(const std::filesystem::path& dir);

/// In the directory of a flock, where Starling made that directory itself.
inline constexpr const char* kOwnFolder = "own-folder";

/// Makes the directory of a new flock where there is none, and notes so in it. `invalid` unless it
/// is a safe place (launch/processes/safe_folder.h).
[[nodiscard]] Status make_flock_folder(const std::filesystem::path& dir);
/// What makes such a directory in another way notes it with this.
[[nodiscard]] Status note_own_folder(const std::filesystem::path& dir);
/// After make_flock_folder(), where no flock came of it: what was written goes, and the directory,
/// if that call made it. What the system does not let go stays.
void undo_flock_folder(const std::filesystem::path& dir);

/// Removes what Starling made in a flock's directory, by its name (flock_paths.h); the directory
/// itself, too, if Starling made it, nothing else is in it and no process stands there. `nodes`:
/// their names; folders of earlier ones are known by their config.json. Links are not followed.
/// What it left, relative to `dir`; `io` where the system refused.
[[nodiscard]] Result<std::vector<std::string>> remove_flock_files(
    const std::filesystem::path& dir, const std::vector<std::string>& nodes);

}  // namespace starling
