// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"

namespace starling {

/// SQLite takes the first damaged frame of a write-ahead log for the end of what a crash left
/// unfinished, and drops it and all behind it. That is right for the last transaction alone: each
/// one is synced before the next begins. Damage before it would silently cost acknowledged records.
///
/// `invalid`: the log beside `database` is damaged before its last transaction, or its database is
/// gone. Done where it is missing, empty or torn at its end. Reads only; call it before the
/// database is opened.
[[nodiscard]] Status check_write_ahead_log(const std::filesystem::path& database);

}  // namespace starling
