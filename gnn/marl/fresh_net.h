// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "nets/weights.h"

namespace starling {

/// The form of a MarlNet that is new.
struct MarlShape {
  bool encoder = true;
  bool data_center = true;  ///< false: embeddings end at the server, nothing is known around it
  bool waits = true;        ///< false: the policy places whatever fits, as Harmony does
  std::vector<std::uint32_t> hidden{48, 24};
};

/// Small random values, the actor's last layer and skip zero, but for what makes it leave a job
/// where it is unless the rule would not. Same seed, same weights.
[[nodiscard]] Weights fresh_marl(const MarlShape& shape, std::uint64_t seed);

}  // namespace starling
