#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace starling {

/// The last at most `limit` bytes of a file as valid UTF-8: foreign bytes and control characters
/// (newline and tab excepted) read '?'. Empty if the file cannot be read.
[[nodiscard]] std::string log_tail(const std::filesystem::path& file, std::size_t limit);

}  // namespace starling
