// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "policies/parts/queue_index.h"
#include "scheduling/policy.h"

namespace starling {

/// What every policy obeys that gives waiting jobs to other partitions, so that nothing bounces:
/// each move of a job waits twice as long as the one before, up to ten minutes, and those in hope
/// alone are bounded. One that would start elsewhere at once may always go there.

/// A gang that has room here once others have ended waits so long before it asks other partitions
/// for a share of their GPUs.
inline constexpr Duration kPatience = std::chrono::minutes(10);
/// Jobs that one call forwards at most.
inline constexpr std::uint32_t kForwardsPerCall = 16;

/// 2^(n-1) s, at most `most`; none for n = 0.
[[nodiscard]] Duration doubling_wait(std::uint32_t n, Duration most);
/// How long a job that was forwarded n times stays before the next time: 2^(n-1) s, at most ten
/// minutes. Less is better where digests are never old, and worse where they are a second old
/// (docs/decisions.md).
[[nodiscard]] Duration forward_backoff(std::uint32_t n);
/// When it has stayed here so long.
[[nodiscard]] Instant moves_from(const QueueEntry& entry, const JobView& job);
[[nodiscard]] bool may_move(const View& view, const QueueEntry& entry, const JobView& job);
/// The job was offered to that agent in its stay here: the core would refuse.
[[nodiscard]] bool was_offered(const JobView& job, AgentId to);

/// Moves of a job that has no room here even when everything is free; `others` are heard of. It has
/// been to each of them then, and back.
[[nodiscard]] constexpr std::size_t most_moves_infeasible(std::size_t others) { return 2 * others; }
/// Moves of a job in the hope of a better type or a shorter queue: to all others, and to those that
/// are calmer. From then on it goes only where it would start, or it would stay where chance left
/// it while GPUs are free elsewhere.
[[nodiscard]] constexpr std::size_t most_moves_in_hope(std::size_t others) {
  return 2 * others + 4;
}
/// Moves of a job in all, where it knows how fast it would be.
[[nodiscard]] constexpr std::size_t most_moves(std::size_t others) {
  return 3 * most_moves_in_hope(others);
}

}  // namespace starling
