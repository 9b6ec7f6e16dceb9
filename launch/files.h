#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace starling {

/// A whole text file. `not_found`, or `io` with the system's reason.
[[nodiscard]] Result<std::string> read_text(const std::filesystem::path& file);
/// Replaces the file as a whole: it is there complete or not at all. `mode` are its permission
/// bits.
[[nodiscard]] Status write_text(const std::filesystem::path& file, const std::string& text,
                                unsigned mode = 0644);
/// Makes the folder and its parents. `io` names it.
[[nodiscard]] Status make_folder(const std::filesystem::path& dir, unsigned mode = 0755);

}  // namespace starling
