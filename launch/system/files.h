// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

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
/// A file's contents, or a folder's names, survive a power cut from here on.
[[nodiscard]] Status make_durable(const std::filesystem::path& path);
/// `written`; where that went well, of what has just been written to `file`, it survives a power
/// cut.
[[nodiscard]] Status durably(const std::filesystem::path& file, const Status& written);
/// What is at `from` is at `to` from here on, in place of what was there, also after a power cut.
[[nodiscard]] Status rename_durably(const std::filesystem::path& from,
                                    const std::filesystem::path& to);
/// The first of `before`1`after`, `before`2`after`, ... that is not there.
[[nodiscard]] std::filesystem::path unused_path(const std::string& before,
                                                const std::string& after = "");
/// `io`: "cannot copy 'FILE': why".
[[nodiscard]] Error cannot(const char* what, const std::filesystem::path& file,
                           const std::error_code& why);

}  // namespace starling
