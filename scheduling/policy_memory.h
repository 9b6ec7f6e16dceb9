// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "scheduling/policy.h"

namespace starling {

/// What a policy may have kept; more is not kept at all.
constexpr std::size_t kMostPolicyMemory = 512 * 1024;

/// Where what a policy has learned outlives the process. Nothing safe depends on it: what was not
/// kept, or cannot be read, has to be learned again.
class PolicyMemory {
 public:
  virtual ~PolicyMemory() = default;
  /// As a whole, or not at all.
  virtual void keep(std::span<const std::byte> memory) = 0;
};

/// What it has learned with whose it is, the version of its bytes and a checksum. Empty: it has
/// learned nothing, or too much to be kept.
[[nodiscard]] std::vector<std::byte> packed_memory(const Policy& policy, Instant origin);

/// Gives a policy back what packed_memory() made; empty: nothing. `invalid`, in one sentence: they
/// are another policy's, another version's, cut or altered; then the policy begins anew.
[[nodiscard]] Status unpack_memory(std::span<const std::byte> memory, Policy& policy,
                                   Instant origin);

}  // namespace starling
