// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nets/pair_net.h"
#include "nets/weights.h"

namespace starling {

/// Log slowdowns by member, as PairNet::log_slowdown, by libtorch: what nets/ is held to. The
/// weights must make a valid PairNet.
[[nodiscard]] std::vector<float> reference_log_slowdown(const Weights& weights,
                                                        const std::string& prefix,
                                                        const PairSide& victim,
                                                        const PairSide& other, std::int64_t set);

}  // namespace starling
