// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "agents/executor/executor.h"

namespace starling {

/// A page of a job's log, which its guardian may be writing and rotating meanwhile (FILE, and what
/// was before in FILE.1). A position is a file's number, which is its own as long as it exists, and
/// an offset in all that was ever printed (in that file, where that is not known: FILE.from,
/// launch/guardian/log_starts.h): so a reader is led from FILE.1 to FILE, told of a gap
/// where what it was reading is gone, and can tell how much is gone from where a page begins.
/// Nothing is waited for and no link followed; only plain files of ours are read.
[[nodiscard]] OutputPage read_output(const std::filesystem::path& log, const ReadOutput& read);

}  // namespace starling
