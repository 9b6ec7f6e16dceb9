// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <span>

#include "gnn/policy_net.h"

namespace starling {

// Made at build time from gnn/weights/*.weights.
extern const unsigned char kShippedMarl[];
extern const std::size_t kShippedMarlBytes;
extern const unsigned char kShippedHarmony[];
extern const std::size_t kShippedHarmonyBytes;

Result<Weights> shipped_policy(const std::string& name) {
  if (name == "marl")
    return parse_weights(std::as_bytes(std::span(kShippedMarl, kShippedMarlBytes)));
  if (name == "harmony")
    return parse_weights(std::as_bytes(std::span(kShippedHarmony, kShippedHarmonyBytes)));
  return Error{Errc::not_found, "no weights are shipped for policy '" + name + "'"};
}

}  // namespace starling
