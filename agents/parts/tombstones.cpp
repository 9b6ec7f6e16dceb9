// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/tombstones.h"

#include "base/planted.h"

namespace starling {

void Tombstones::add(AttemptId attempt, Tombstone stone) {
  if (!stones_.emplace(attempt, stone).second) return;
  order_.push_back(attempt);
  if (order_.size() <= (planted(Bug::tombstone_dropped_early) ? 1 : limit_)) return;
  stones_.erase(order_.front());
  order_.pop_front();
}

void Tombstones::set_served(AttemptId attempt, Duration served) {
  if (const auto at = stones_.find(attempt); at != stones_.end()) at->second.served = served;
}

const Tombstone* Tombstones::find(AttemptId attempt) const {
  const auto at = stones_.find(attempt);
  return at == stones_.end() ? nullptr : &at->second;
}

bool Tombstones::full_of_young(Instant before) const {
  return order_.size() >= limit_ && !order_.empty() && stones_.at(order_.front()).since >= before;
}

std::vector<AttemptId> Tombstones::sweep(Instant before,
                                         const std::function<bool(AttemptId)>& wanted) {
  std::vector<AttemptId> dropped, kept;
  while (!order_.empty() && stones_.at(order_.front()).since < before) {
    const AttemptId attempt = order_.front();
    order_.pop_front();
    if (wanted(attempt)) {
      kept.push_back(attempt);
      continue;
    }
    if (stones_.at(attempt).durable) dropped.push_back(attempt);
    stones_.erase(attempt);
  }
  order_.insert(order_.begin(), kept.begin(), kept.end());
  return dropped;
}

void Tombstones::drop(std::span<const AttemptId> attempts) {
  for (const AttemptId attempt : attempts) stones_.erase(attempt);
  std::erase_if(order_, [&](AttemptId attempt) { return !stones_.contains(attempt); });
}

void Tombstones::date(Instant now) {
  for (auto& [attempt, stone] : stones_) stone.since = now;
}

}  // namespace starling
