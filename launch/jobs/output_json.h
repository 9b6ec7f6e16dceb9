// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/client/output_of_job.h"

namespace starling {

/// {"job", "attempt", "server", "rank", "line"} on one line with its end; "cut": true where the
/// line goes on in the next object of its rank, or has no end yet. "rank" is null where the server
/// has several workers and none is named. Of what is gone {"job", "attempt", "server",
/// "gone_bytes"}. ASCII: whatever is no UTF-8 reads U+FFFD.
[[nodiscard]] std::string output_json(const OutputLine& output);

}  // namespace starling
