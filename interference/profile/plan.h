// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "interference/profile/workload_spec.h"

namespace starling {

/// What two workloads share, from the most to the least.
enum class ProfileRelation : std::uint8_t {
  same_gpu,      ///< one GPU, a core each
  same_core,     ///< one hardware thread, in turns
  same_smt,      ///< two hardware threads of one core
  same_cache,    ///< two cores under one last-level cache
  same_socket,   ///< two cores of one socket, without a cache in common
  other_socket,  ///< two sockets of one server
};
/// "same-core"
[[nodiscard]] std::string_view to_text(ProfileRelation relation);

/// Where two workloads are put: each pinned to its core.
struct CorePlace {
  ProfileRelation relation = ProfileRelation::same_core;
  int core_a = 0, core_b = 0;
  bool operator==(const CorePlace&) const = default;
};

/// What a campaign measures: every pair of workloads (one with itself too) at every place,
/// `repeats` times.
struct ProfilePlan {
  std::vector<WorkloadSpec> workloads;
  std::vector<CorePlace> places;
  std::uint32_t repeats = 0;
  std::uint64_t seed = 1;
};

/// One measurement of one pair at one place; indices into the plan, a <= b.
struct ProfileVisit {
  std::uint32_t repeat = 0, place = 0, a = 0, b = 0;
  auto operator<=>(const ProfileVisit&) const = default;
};

/// Every pair at every place once. The places come in random order, as do the pairs within each,
/// so that neither drift nor a neighbour in the order favours any. The same plan and repeat, the
/// same order; other numbers of repeats do not change it.
[[nodiscard]] std::vector<ProfileVisit> round_of(const ProfilePlan& plan, std::uint32_t repeat);

/// A visit has three windows, in random order: what drifts from one to the next does so in either
/// direction equally often.
enum class ProfileWindow : std::uint8_t { a_alone, b_alone, together };
[[nodiscard]] std::array<ProfileWindow, 3> windows_of(const ProfilePlan& plan,
                                                      const ProfileVisit& visit);

}  // namespace starling
