// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace starling {

/// The folders of parts (launch/guardian/part_files.h) in one of an executor, by name.
[[nodiscard]] std::vector<std::filesystem::path> part_folders(const std::filesystem::path& parts);
/// No process of it is left, and its end is durable elsewhere.
void forget_part(const std::filesystem::path& folder);
/// A descriptor that keeps other executors away from `parts` for as long as it is open. `conflict`:
/// another process has it; `io`: it cannot be told.
[[nodiscard]] Result<int> lock_parts(const std::filesystem::path& parts);

/// What jobs get between the polite and the forceful end when their executor is stopped for good.
constexpr Duration kEndGrace = std::chrono::seconds(3);

/// Kills what guardians that were killed left of their parts, once: for a process that does not
/// come so far as to make a ProcessLauncher on `parts`. How many such parts still have a process.
std::size_t clear_unguarded(const std::filesystem::path& parts);
/// Ends all parts that are not looked after any more: politely, after `grace` by force. Waits until
/// no process is left, a few seconds longer than that at most. True: none is.
bool end_parts(const std::filesystem::path& parts, Duration grace);

}  // namespace starling
