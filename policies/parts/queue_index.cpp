// SPDX-License-Identifier: Apache-2.0
#include "policies/parts/queue_index.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "scheduling/packing.h"
#include "scheduling/waiting_changes.h"

namespace starling {
namespace {

bool before(const QueueEntry& a, const QueueEntry& b) {
  return std::tie(b.priority, a.key, a.submitted, a.order) <
         std::tie(a.priority, b.key, b.submitted, b.order);
}

bool is_same(const QueueEntry& seen, const JobView& job) {
  return seen.order == job.order && seen.served == job.served;
}

bool by_order(const JobView& a, const JobView& b) { return a.order < b.order; }

/// How many jobs at the front of both rows are sure to be the same.
std::size_t unchanged(std::span<const QueueEntry> seen, std::span<const JobView> waiting,
                      std::uint64_t least) {
  const auto end =
      std::lower_bound(waiting.begin(), waiting.end(), least,
                       [](const JobView& job, std::uint64_t order) { return job.order < order; });
  const auto count = static_cast<std::size_t>(end - waiting.begin());
  if (count == 0) return 0;
  STARLING_CHECK(count <= seen.size() && is_same(seen[count - 1], waiting[count - 1]));
  return count;
}

}  // namespace

QueueIndex::QueueIndex(KeyOf key_of, OfSpec fits_empty, OfSpec in_pieces)
    : key_of_(std::move(key_of)),
      fits_empty_(std::move(fits_empty)),
      in_pieces_(std::move(in_pieces)) {}

QueueEntry QueueIndex::make(const JobView& job, Instant now) {
  QueueEntry entry;
  entry.priority = job.spec->priority;
  prioritised_ = prioritised_ || entry.priority != 0;
  entry.key = key_of_(job);
  entry.submitted = job.submitted;
  entry.order = job.order;
  entry.since = now;
  entry.served = job.served;
  entry.gpus = job.spec->gpus();
  entry.typed = !job.spec->gpu_types.empty();
  // A single worker is the whole gang: its size says nothing about what it wants beside.
  const bool lone = job.spec->workers == 1;
  Wants wants{job.spec->gpu_types, lone ? 1 : job.spec->gpus_per_worker, demand_of(*job.spec)};
  entry.needy = wants.each.any();
  const std::uint32_t wanted =
      wants_.emplace(std::move(wants), static_cast<std::uint32_t>(wants_.size())).first->second;
  const auto [room, fresh] = rooms_.try_emplace({wanted, entry.gpus, lone});
  if (fresh) room->second = {!fits_empty_(*job.spec), in_pieces_ && in_pieces_(*job.spec)};
  entry.infeasible = room->second.infeasible;
  entry.kind = 2 * wanted + (room->second.in_pieces ? 1 : 0);
  Look look{job.spec->model, entry.kind, entry.gpus, job.spec->cpus_per_worker, job.spec->run};
  entry.look =
      looks_.emplace(std::move(look), static_cast<std::uint32_t>(looks_.size())).first->second;
  return entry;
}

void QueueIndex::Row::pop(std::size_t count) {
  constexpr std::size_t kWorthMoving = 64;
  first_ += count;
  if (first_ <= std::max(kWorthMoving, all_.size() / 2)) return;
  all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

void QueueIndex::sync(std::span<const JobView> waiting, Instant now,
                      const WaitingChanges* changes) {
  const std::uint64_t least = changes == nullptr ? 0 : changes->least_since(seen_changes_);
  seen_changes_ = changes == nullptr ? 0 : changes->count();
  // What most often happened: some left at the front, some came at the back.
  std::size_t left = 0;
  std::size_t i = 0;
  const auto match = [&](std::uint64_t below) {
    left = i = 0;
    if (waiting.empty()) return;
    std::span<const QueueEntry> seen = arrivals_.entries();
    while (left < seen.size() && seen[left].order < waiting.front().order) ++left;
    seen = seen.subspan(left);
    i = unchanged(seen, waiting, below);
    const std::size_t shorter = std::min(seen.size(), waiting.size());
    while (i < shorter && is_same(seen[i], waiting[i])) ++i;
  };
  match(least);
  const std::size_t known = i == 0 ? 0 : i - 1;  // up to there in order, as arrivals_ is
  if (!std::is_sorted(waiting.begin() + static_cast<std::ptrdiff_t>(known), waiting.end(),
                      by_order)) {
    sorted_.assign(waiting.begin(), waiting.end());
    std::sort(sorted_.begin(), sorted_.end(), by_order);
    waiting = sorted_;
    match(0);
  }
  waiting_ = waiting;
  std::vector<QueueEntry> removed;
  std::span<const QueueEntry> seen = arrivals_.entries();
  if (waiting.empty()) left = seen.size();
  removed.assign(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(left));
  arrivals_.pop(left);
  seen = arrivals_.entries();
  if (removed.empty() && i == seen.size() && i == waiting.size()) return;

  std::vector<QueueEntry> added;
  std::size_t j = i;
  next_.assign(seen.begin() + static_cast<std::ptrdiff_t>(i), seen.end());
  arrivals_.cut(i);
  i = 0;
  for (; j < waiting.size(); ++j) {
    while (i < next_.size() && next_[i].order < waiting[j].order) removed.push_back(next_[i++]);
    if (i < next_.size() && is_same(next_[i], waiting[j])) {
      arrivals_.push(next_[i++]);
      continue;
    }
    if (i < next_.size() && next_[i].order == waiting[j].order) removed.push_back(next_[i++]);
    added.push_back(make(waiting[j], now));
    arrivals_.push(added.back());
  }
  for (; i < next_.size(); ++i) removed.push_back(next_[i]);
  apply(removed, added);
}

void QueueIndex::apply(std::vector<QueueEntry>& removed, std::vector<QueueEntry>& added) {
  for (const QueueEntry& entry : removed) {
    total_gpus_ -= entry.gpus;
    infeasible_ -= entry.infeasible ? 1U : 0U;
  }
  for (const QueueEntry& entry : added) {
    total_gpus_ += entry.gpus;
    infeasible_ += entry.infeasible ? 1U : 0U;
  }
  if (!removed.empty()) {
    std::sort(removed.begin(), removed.end(), before);
    auto gone = removed.cbegin();
    const std::span<QueueEntry> queue = queue_.entries();
    std::size_t front = 0;
    while (front < queue.size() && gone != removed.cend() && queue[front].order == gone->order)
      ++front, ++gone;
    if (gone != removed.cend()) {
      auto out = std::lower_bound(queue.begin() + static_cast<std::ptrdiff_t>(front), queue.end(),
                                  *gone, before);
      for (auto in = out; in != queue.end(); ++in) {
        if (gone != removed.cend() && in->order == gone->order) {
          ++gone;
        } else {
          *out++ = *in;
        }
      }
      queue_.cut(static_cast<std::size_t>(out - queue.begin()));
    }
    STARLING_CHECK(gone == removed.cend());
    queue_.pop(front);
  }
  if (added.empty()) return;
  std::sort(added.begin(), added.end(), before);
  const auto middle = static_cast<std::ptrdiff_t>(queue_.entries().size());
  const bool behind = middle == 0 || before(queue_.entries().back(), added.front());
  for (const QueueEntry& entry : added) queue_.push(entry);
  const std::span<QueueEntry> queue = queue_.entries();
  if (!behind) std::inplace_merge(queue.begin(), queue.begin() + middle, queue.end(), before);
}

const JobView& QueueIndex::job(const QueueEntry& entry) const {
  const auto found =
      std::lower_bound(waiting_.begin(), waiting_.end(), entry.order,
                       [](const JobView& job, std::uint64_t order) { return job.order < order; });
  STARLING_CHECK(found != waiting_.end() && found->order == entry.order);
  return *found;
}

}  // namespace starling
