// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"

namespace starling {

/// `invalid`: none, or more than a generator makes.
[[nodiscard]] Status check_jobs(std::uint32_t jobs);
/// What generators with a load have in common; `invalid` names the first that is out of range.
[[nodiscard]] Status check_size(std::uint32_t jobs, std::uint32_t cluster_gpus, double load,
                                double max_duration_s);

}  // namespace starling
