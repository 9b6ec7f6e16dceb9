// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace starling {

/// A job's id as a decimal number, as programs made for Slurm want it.
[[nodiscard]] std::string job_number(const JobId& id);
/// The job of a number; nothing: it is none, or larger than an id.
[[nodiscard]] std::optional<JobId> job_of_number(std::string_view digits);

}  // namespace starling
