// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/published/muri/muri_simulator.h"

namespace starling {

inline constexpr std::size_t kMostInGroup = 4;

/// How the jobs of a group take turns.
enum class StageOrder : std::uint8_t { best, worst };

/// What a job has to be told apart by others that share its GPUs.
struct StageKind {
  double iteration_s = 0;
  std::array<double, 3> stages_s{};
  auto operator<=>(const StageKind&) const = default;
};

/// How long an iteration of each job of a group takes, all taking turns on the same GPUs: in one
/// turn of four a job reads from storage, in the next it prepares data on CPUs, then it computes,
/// then it exchanges. The first two were measured as one time, of both turns together. Remembers
/// what it was asked.
class StageGroups {
 public:
  /// `extra`: how much longer an iteration takes than its turns, with 2, 3 and 4 jobs.
  explicit StageGroups(const std::array<double, 3>& extra) : extra_(extra) {}

  /// Of 1 to kMostInGroup jobs; of more than one in the order that is asked for.
  [[nodiscard]] double iteration_s(std::span<const std::uint32_t> kinds, StageOrder order);
  /// The share of the stages' resources that a group uses.
  [[nodiscard]] double used(std::span<const std::uint32_t> kinds, StageOrder order);
  /// A number for the kind: equal for equal ones.
  [[nodiscard]] std::uint32_t kind_of(const StageKind& kind);

 private:
  [[nodiscard]] double turns_s(std::span<const std::uint32_t> kinds, StageOrder order) const;

  std::array<double, 3> extra_;
  std::vector<StageKind> kinds_;
  std::map<StageKind, std::uint32_t> numbers_;
  std::map<std::array<std::uint32_t, kMostInGroup + 1>, double> known_;  ///< sorted, and the order
};

}  // namespace starling
