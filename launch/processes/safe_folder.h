// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace starling {

/// A POSIX shell's functions that say whether any user but its owner can put something else in a
/// folder's place, or into it.
///
/// `walk PATH` follows an absolute path and every link in it. Each folder and link on the way must
/// belong to root or to this user, and a folder must be closed to writing by others unless it is
/// sticky, as /tmp is; then no other user can exchange what is below. Where the last one is there,
/// it must be this user's, and closed to all others' writing. Afterwards $at$rest is the path
/// without links, $rest what of it is missing, and $bad what is wrong (then walk fails).
/// `make PATH [MODE]` makes what is missing, for this user alone where no mode is given, and walks
/// it. With $trust set folders above the last one may be of the user nobody (65534), as those of
/// the machine's root are in a user namespace, unless this user is root.
[[nodiscard]] const char* safe_folder_functions();

/// `command`, run by a shell only where `directory` (absolute) is safe; else the shell says on
/// standard error what is wrong and ends with 1.
[[nodiscard]] std::string where_safe(const std::string& directory, const std::string& command);

/// Whether a folder on this machine is safe, there or not; with $trust. `invalid` says what is
/// wrong.
[[nodiscard]] Status is_safe_folder(const std::filesystem::path& dir);
/// Makes it, too. Others may read it, as any folder that a user makes.
[[nodiscard]] Status make_safe_folder(const std::filesystem::path& dir);

}  // namespace starling
