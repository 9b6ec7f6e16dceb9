// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/moves.h"

#include <algorithm>

namespace starling {

Duration doubling_wait(std::uint32_t n, Duration most) {
  if (n == 0) return Duration::zero();
  return std::min<Duration>(std::chrono::seconds(1LL << std::min(n - 1, 20U)), most);
}

Duration forward_backoff(std::uint32_t n) { return doubling_wait(n, std::chrono::minutes(10)); }

Instant moves_from(const QueueEntry& entry, const JobView& job) {
  return later(entry.since, forward_backoff(job.forwards));
}

bool may_move(const View& view, const QueueEntry& entry, const JobView& job) {
  return moves_from(entry, job) <= view.now;
}

bool was_offered(const JobView& job, AgentId to) {
  return std::ranges::find(job.offered, to) != job.offered.end();
}

}  // namespace starling
