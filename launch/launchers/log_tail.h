// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace starling {

/// The last at most `limit` bytes of `text`, made fit for a terminal (base/visible.h).
[[nodiscard]] std::string last_words(std::string text, std::size_t limit);

/// The same of a file. Empty if the file cannot be read, or is no regular one of ours: jobs can put
/// anything in its place, so no link is followed and nothing waited for.
[[nodiscard]] std::string log_tail(const std::filesystem::path& file, std::size_t limit);

}  // namespace starling
