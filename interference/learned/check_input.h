// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interference/speed.h"

namespace starling {

/// The field of a job that no model could answer for, and why; null if there is none.
[[nodiscard]] const char* wrong_with(const JobProfile& job) noexcept;

}  // namespace starling
