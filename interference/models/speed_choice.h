// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "interference/models.h"

namespace starling {

enum class SpeedKind : std::uint8_t { analytic, learned, physics };

/// Which speed model policies ask where speeds vary, as users write it: `analytic`, `learned` (the
/// weights that the program carries), `learned:FILE`, the same with `frozen` in its place, which
/// takes up nothing that is measured, or with `adaptive`, which adapts to other hardware from a
/// meta-learned prior (interference/adapt; FILE may be one, the network is the program's then), or
/// `physics`, the world's own rates, which only a simulation or emulated jobs can give.
struct SpeedChoice {
  SpeedKind kind = SpeedKind::analytic;
  std::string file = {};  ///< of weights or, where it adapts, of a prior; empty: shipped
  bool frozen = false;    ///< learned, and learns no more
  bool adaptive = false;  ///< learned, and adapts
};
/// `invalid` says what may be written.
[[nodiscard]] Result<SpeedChoice> parse_speed(const std::string& text);
/// The same way back.
[[nodiscard]] std::string text_of(const SpeedChoice& choice);

/// The model. Errors name the weights file. `physics` may be null where the choice is another.
[[nodiscard]] Result<std::unique_ptr<SpeedModel>> make_speed(const SpeedChoice& choice,
                                                             const Topology& topology,
                                                             const Physics* physics);

}  // namespace starling
