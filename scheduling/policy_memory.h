// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/policy.h"

namespace starling {

/// Bytes that a policy may have kept; more is not kept at all.
constexpr std::size_t kMostPolicyMemory = 512 * 1024;

/// Where what a policy has learned outlives the process. Nothing safe depends on it: what was not
/// kept, or cannot be read, has to be learned again.
class PolicyMemory {
 public:
  virtual ~PolicyMemory() = default;
  /// As a whole, or not at all.
  virtual void keep(std::span<const std::byte> memory) = 0;
  /// What it has learned since cannot be kept, and `why`, for people: what is there is to go, for
  /// it would be out of date. May be said again and again.
  virtual void drop(const std::string& why) = 0;
};

/// What it has learned with whose it is, the version of its bytes and a checksum. Empty: it has
/// learned nothing. `busy`: too much to be kept. `made_of`: what the policy was made of,
/// "NAME:key=value,...", at most kMostMadeOf characters.
[[nodiscard]] Result<std::vector<std::byte>> packed_memory(const Policy& policy,
                                                           std::string_view made_of,
                                                           Instant origin);
constexpr std::size_t kMostMadeOf = 4096;

/// Gives a policy back what packed_memory() made; empty: nothing. `invalid`, in one sentence: they
/// are another policy's, or the same one's with other options, which may mean something else by
/// them, another version's, cut or altered; then the policy begins anew.
[[nodiscard]] Status unpack_memory(std::span<const std::byte> memory, Policy& policy,
                                   std::string_view made_of, Instant origin);

}  // namespace starling
