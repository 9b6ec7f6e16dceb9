// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "agents/record.h"
#include "base/result.h"

namespace starling {

/// What is left of a journal in SQLite.
struct Salvaged {
  std::vector<Record> records;  ///< the first ones, up to the first that cannot be read
  std::uint64_t last = 0;       ///< number of the last of them; 0: none
  std::uint64_t known = 0;  ///< number of the last that was ever durable, as far as that is known
};

/// Reads as much as can be read, however damaged the files are. Works on a copy in `room`, a folder
/// that is there and has nothing of that name; the files themselves stay as they are. `io`: they
/// cannot be copied.
[[nodiscard]] Result<Salvaged> salvage_journal(const std::filesystem::path& journal,
                                               const std::filesystem::path& room);

/// The files that a journal in SQLite consists of, that are there.
[[nodiscard]] std::vector<std::filesystem::path> journal_files(
    const std::filesystem::path& journal);

}  // namespace starling
