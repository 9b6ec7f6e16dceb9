// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "sim/run/run_recorder.h"

namespace starling {

/// A recording as a file: JSON, with the data centre as the YAML that all commands read. Written
/// and read back it is the same. Schema 1: readers refuse any other.
[[nodiscard]] std::string recording_text(const Recording& recording);
/// `invalid` for what is none, or one whose parts contradict each other: `file` and what is wrong.
[[nodiscard]] Result<Recording> parse_recording(const std::string& text, const std::string& file);
/// Of a file, plain or gzip. `io` if it cannot be read.
[[nodiscard]] Result<Recording> read_recording(const std::string& file);

}  // namespace starling
