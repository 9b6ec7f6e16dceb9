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

namespace {

struct Shipped {
  const char* policy;
  std::span<const unsigned char> weights;
};
/// Every policy that has weights of its own.
std::span<const Shipped> shipped() {
  static const Shipped kShipped[] = {{"marl", {kShippedMarl, kShippedMarlBytes}},
                                     {"harmony", {kShippedHarmony, kShippedHarmonyBytes}}};
  return kShipped;
}

}  // namespace

Result<Weights> shipped_policy(const std::string& name) {
  for (const Shipped& one : shipped()) {
    if (name == one.policy) return parse_weights(std::as_bytes(one.weights));
  }
  return Error{Errc::not_found, "no weights are shipped for policy '" + name + "'"};
}

std::vector<std::string> shipped_policies() {
  std::vector<std::string> names;
  for (const Shipped& one : shipped()) names.emplace_back(one.policy);
  return names;
}

}  // namespace starling
