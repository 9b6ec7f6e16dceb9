// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/rng.h"

namespace starling {

/// How common gangs of one size are: their part of all jobs.
struct GangSize {
  std::uint32_t gpus;
  double part;
};

/// One of `sizes`, which ascend and whose parts add up to 1; halved while it is above `most`.
[[nodiscard]] std::uint32_t draw_gang(Rng& rng, std::span<const GangSize> sizes,
                                      std::uint32_t most);

}  // namespace starling
