// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <span>

#include "interference/learned/interference_net.h"

namespace starling {

// Made at build time from interference/weights/interference.weights.
extern const unsigned char kShippedInterference[];
extern const std::size_t kShippedInterferenceBytes;

Result<Weights> shipped_interference() {
  return parse_weights(std::as_bytes(std::span(kShippedInterference, kShippedInterferenceBytes)));
}

}  // namespace starling
