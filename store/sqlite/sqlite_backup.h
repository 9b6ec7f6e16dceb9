// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace starling {

/// Copies a journal in SQLite, also one that a process writes to, as it is at one moment, into the
/// new file `to`, with its head beside it. Gives the number of its last record. `io`: it cannot be
/// read or written; `invalid`: it is no journal.
[[nodiscard]] Result<std::uint64_t> back_up_journal(const std::filesystem::path& from,
                                                    const std::filesystem::path& to);

}  // namespace starling
