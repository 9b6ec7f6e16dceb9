// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "policies/dl2/dl2_division.h"

namespace starling {

/// DL2's supervised warm-up (section 4.2): the net learns what its incumbent does, by cross-entropy
/// and Adam. Defaults are the paper's; the rate falls to a tenth of it over the passes, which is
/// ours.
struct Dl2ImitationOptions {
  std::uint32_t passes = 30;
  std::size_t batch = 256;
  double rate = 0.005;
  std::uint64_t seed = 1;
  /// After each pass, with its mean cross-entropy.
  std::function<void(std::uint32_t pass, double loss)> progress;
};
void imitate(Dl2Head& actor, const Dl2Shape& shape, std::span<const Dl2Example> examples,
             const Dl2ImitationOptions& options);

/// Of the examples, the part in which the net's most likely action is the incumbent's. None: 0.
[[nodiscard]] double agreement(Dl2Head& actor, std::span<const Dl2Example> examples);

}  // namespace starling
