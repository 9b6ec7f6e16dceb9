// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "interference/contention.h"

namespace starling {

/// Sharing as it was measured, pair by pair, from a file with the columns of gavel/colocated.csv:
/// "FILE", Gavel's campaign of 2020, or "FILE@CAMPAIGN", any other in the file; by the fitted form
/// for jobs, pairs and GPU types that it has not, and for what several others cost together. For the
/// simulated world: nothing that was trained is in it. `io` or `invalid` names file and line, or the
/// campaigns there are.
[[nodiscard]] Result<std::shared_ptr<const Contention>> read_measured_contention(
    const std::string& pairs);

}  // namespace starling
