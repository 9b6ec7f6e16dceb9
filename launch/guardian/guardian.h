// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace starling {

/// The guardian of one part of an attempt: parent of its processes and of whatever escapes these,
/// in a process of its own that shares nothing with its executor but the part's folder
/// (part_files.h). It survives its executor, ends the part when it is told to or when no executor
/// has renewed it until its deadline, takes its output, holds its GPUs' locks, and ends itself,
/// with a result in the folder, once no process of the part is left. A part that does not die keeps
/// it there.
///
/// Returns the exit status: kGuarded with a result in the folder, or kNothingStarted.
int guard(const std::filesystem::path& folder);

constexpr int kGuarded = 0;
constexpr int kNothingStarted = 71;

}  // namespace starling
