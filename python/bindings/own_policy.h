// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "policies/registry.h"

namespace starling {

/// Adds a policy that is written in Python, and gives its name in the registry. `own`: an object
/// with a method decide(view), for one agent; or what makes such objects when it is called, one for
/// each agent: a class. TypeError for anything else.
[[nodiscard]] std::string add_own_policy(PolicyRegistry& registry, const pybind11::object& own,
                                         std::uint32_t agents);

}  // namespace starling
