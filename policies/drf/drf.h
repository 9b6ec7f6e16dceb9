// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "policies/elastic/division.h"

namespace starling {

/// For policies that begin as this one.
[[nodiscard]] std::unique_ptr<Division> make_drf_division();

}  // namespace starling
