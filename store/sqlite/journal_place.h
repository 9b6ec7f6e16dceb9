// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace starling {

// Whether an open journal is where, and whose, it should be.

/// Writes down whose it is, the first time; 0 asks for nothing. `invalid`: another node's, as when
/// a copy was put into the wrong folder; `io`: it cannot be read or written.
[[nodiscard]] Status keep_owner(sqlite3* db, std::uint32_t node);

/// The file is not there any more, or another one is in its place: what is written to it no process
/// will find. Not if its folder has another name now.
[[nodiscard]] bool has_gone(sqlite3* db, const std::filesystem::path& path);

}  // namespace starling
