// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace starling {

enum class PhysicsKind : std::uint8_t { trace, full, measured, dl2 };
/// What each has of the links between switches: each server an even part, whatever others send;
/// gangs as flows; those with the phases of their iterations (interference/flows/coupled_gangs.h).
enum class NetworkKind : std::uint8_t { even, flows, phases };

/// What decides how fast a simulated job runs, as users write it: `trace`, `full`,
/// `measured` (interference/measured_physics.h), `dl2` (interference/dl2_physics.h), or `full:`
/// and, with commas between them, any of `stragglers=SIGMA`, `pairs=FILE`, `goodput` (see
/// FullPhysicsOptions), `network=flows` and with that `phases`.
struct PhysicsChoice {
  PhysicsKind kind = PhysicsKind::trace;
  double straggler_sigma = 0;
  std::string pairs =
      {};  ///< FILE or FILE@CAMPAIGN that the world runs by (interference/pairs); empty: none
  bool goodput = false;
  NetworkKind network = NetworkKind::even;
};

/// `invalid` says what may be written.
[[nodiscard]] Result<PhysicsChoice> parse_physics(const std::string& text);
/// The same way back.
[[nodiscard]] std::string text_of(const PhysicsChoice& choice);

}  // namespace starling
