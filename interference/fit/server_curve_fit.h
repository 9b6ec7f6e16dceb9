// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "interference/pace/server_curve.h"

namespace starling {

/// One measured speed.
struct ServerSample {
  double workers = 1;
  double servers = 1;
  double batch = 1;  ///< samples of one step; where synchronous
  double speed = 0;  ///< above 0
};

/// The constants, none below 0, of the least mean square of (fitted - measured)/measured in the
/// time of a step: Optimus fits five to ten measurements of a job so. Deterministic.
[[nodiscard]] ServerCurve fit_server_curve(std::span<const ServerSample> samples, bool synchronous);

}  // namespace starling
