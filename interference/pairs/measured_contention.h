// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "interference/contention.h"

namespace starling {

/// Sharing as Gavel measured it in 2020, pair by pair, from a file with the columns of
/// gavel/colocated.csv; by the fitted form for jobs, pairs and GPU types that it has not, and for
/// what several others cost together. For the simulated world: nothing that was trained is in it.
/// `io` or `invalid` names file and line.
[[nodiscard]] Result<std::shared_ptr<const Contention>> read_measured_contention(
    const std::filesystem::path& file);

}  // namespace starling
