// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace starling {

/// Waits until what is at `path`, a file or a folder, is on disk. False: the system refused, and
/// errno says why.
[[nodiscard]] bool sync_path(const std::filesystem::path& path);
/// The folder that `file` is in: a new or renamed file outlives a power cut only once that is on
/// disk, too.
[[nodiscard]] bool sync_folder_of(const std::filesystem::path& file);

}  // namespace starling
