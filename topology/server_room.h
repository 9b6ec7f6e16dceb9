// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/ids.h"
#include "topology/demand.h"
#include "topology/topology.h"

namespace starling {

/// Servers of one partition that have the same left: on each of `servers`, `free` GPUs of `type`
/// with no job on them, and `left` CPUs and memory beside them.
struct ServerRoom {
  static constexpr std::int64_t kAnyAmount = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kMostAmount = 1'000'000'000'000;  ///< else; more counts as that

  GpuTypeId type;
  std::uint32_t free = 0;     ///< at least 1
  std::uint32_t servers = 0;  ///< at least 1
  Demand left;                ///< kAnyAmount: the server does not say what it has

  /// What a server has that says it has so many CPUs, or GiB, with nothing taken.
  [[nodiscard]] static std::int64_t amount_of(double has) noexcept;
  /// GPUs on each that a job can have that needs `each` beside every one of them.
  [[nodiscard]] std::uint32_t gpus_for(Demand each) const noexcept;
  /// The amounts are what they may be.
  [[nodiscard]] bool is_sane() const noexcept;
  friend bool operator==(const ServerRoom&, const ServerRoom&) = default;
};

/// Rooms that a partition tells of at most.
constexpr std::size_t kMostServerRooms = 64;

}  // namespace starling
