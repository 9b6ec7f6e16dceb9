#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// In a flock's directory: what an `up` in the background says.
inline constexpr const char* kUpLog = "up.log";

/// `invalid` unless a flock can be made in `dir`: it has to be absent or empty, but for what an
/// `up` that came to nothing left behind.
[[nodiscard]] Status can_take_folder(const std::filesystem::path& dir);

/// Names in a flock's directory that are Starling's; all that is in nodes/NAME of a node of the
/// flock is, too. `deployment.json` comes last: until it is gone, the flock can be removed again.
[[nodiscard]] const std::vector<std::string>& flock_file_names();

/// Removes what Starling made in a flock's directory, and the directory itself if nothing else is
/// in it and nobody stands there. `nodes`: their names. What it left, relative to `dir`; `io` where
/// the system refused.
[[nodiscard]] Result<std::vector<std::string>> remove_flock_files(
    const std::filesystem::path& dir, const std::vector<std::string>& nodes);

}  // namespace starling
