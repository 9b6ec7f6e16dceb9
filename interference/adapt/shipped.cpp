// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <span>

#include "interference/adapt/shift_prior.h"

namespace starling {

// Made at build time from interference/weights/shift.weights.
extern const unsigned char kShippedShiftPrior[];
extern const std::size_t kShippedShiftPriorBytes;

Result<ShiftPrior> shipped_shift_prior() {
  const auto weights =
      parse_weights(std::as_bytes(std::span(kShippedShiftPrior, kShippedShiftPriorBytes)));
  if (!weights) return weights.error();
  return ShiftPrior::load(weights.value());
}

}  // namespace starling
