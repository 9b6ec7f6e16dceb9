// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "policies/elastic/division.h"

namespace starling {

// The divisions of elastic policies, for others that begin as one of these.

[[nodiscard]] std::unique_ptr<Division> make_drf_division();
/// optimus:servers=free, otherwise by its defaults.
[[nodiscard]] std::unique_ptr<Division> make_optimus_division();

}  // namespace starling
