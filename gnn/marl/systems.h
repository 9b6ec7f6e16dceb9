// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "gnn/learned_system.h"

namespace starling {

/// marl, marl-central and harmony: one net and its features, with two sets of weights.
[[nodiscard]] std::vector<LearnedSystem> marl_systems();

}  // namespace starling
