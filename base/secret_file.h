// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace starling {

/// The text of a file that no other user may know: a regular file and no link, of this user or
/// root, closed to everybody else (mode 0600). `invalid` says what is not so and what would mend
/// it; `io` if the system cannot read it now. At most 1 MiB.
[[nodiscard]] Result<std::string> read_secret(const std::filesystem::path& file);

}  // namespace starling
