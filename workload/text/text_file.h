// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace starling {

/// The whole of a file, plain or gzip (told from its first bytes). `io` if it cannot be read, is
/// cut short or holds more than `max_bytes` of text.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& file,
                                                 std::size_t max_bytes = std::size_t{1} << 30U);
/// Replaces the file; gzip if the name ends in .gz. `io` names what went wrong.
[[nodiscard]] Status write_text_file(const std::filesystem::path& file, std::string_view text);

}  // namespace starling
