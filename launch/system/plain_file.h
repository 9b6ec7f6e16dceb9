// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace starling {

/// A file of a flock's, which a process reads that nothing may hold up. `not_found`; `io` with the
/// system's reason, and for what is no plain file (it waits for no FIFO) or has more than 64 MiB.
[[nodiscard]] Result<std::string> read_plain(const std::filesystem::path& file);

}  // namespace starling
