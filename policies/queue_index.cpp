#include "policies/queue_index.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "policies/packing.h"

namespace starling {
namespace {

bool before(const QueueEntry& a, const QueueEntry& b) {
  return std::tie(b.priority, a.key, a.submitted, a.order) <
         std::tie(a.priority, b.key, b.submitted, b.order);
}

bool by_order(const JobView& a, const JobView& b) { return a.order < b.order; }

}  // namespace

QueueIndex::QueueIndex(KeyOf key_of, FitsEmpty fits_empty)
    : key_of_(std::move(key_of)), fits_empty_(std::move(fits_empty)) {}

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
  // A single worker is the whole gang: its size says nothing about the kind.
  const Kind kind{job.spec->gpu_types, job.spec->workers == 1 ? 1 : job.spec->gpus_per_worker,
                  demand_of(*job.spec)};
  entry.needy = kind.each.any();
  entry.kind = kinds_.emplace(kind, static_cast<std::uint32_t>(kinds_.size())).first->second;
  Look look{job.spec->model, entry.kind, entry.gpus, job.spec->cpus_per_worker};
  entry.look =
      looks_.emplace(std::move(look), static_cast<std::uint32_t>(looks_.size())).first->second;
  const auto [known, fresh] = homeless_kinds_.emplace(std::pair(entry.kind, entry.gpus), false);
  if (fresh) known->second = !fits_empty_(*job.spec);
  entry.homeless = known->second;
  return entry;
}

void QueueIndex::sync(std::span<const JobView> waiting, Instant now) {
  const auto is_same = [](const QueueEntry& seen, const JobView& job) {
    return seen.order == job.order && seen.served == job.served;
  };
  // What most often happened: some left at the front, some came at the back.
  std::size_t left = 0;
  std::size_t i = 0;
  const auto match = [&] {
    left = i = 0;
    if (waiting.empty()) return;
    while (left < arrivals_.size() && arrivals_[left].order < waiting.front().order) ++left;
    const std::size_t shorter = std::min(arrivals_.size() - left, waiting.size());
    while (i < shorter && is_same(arrivals_[left + i], waiting[i])) ++i;
  };
  match();
  const std::size_t known = i == 0 ? 0 : i - 1;  // up to there in order, as arrivals_ is
  if (!std::is_sorted(waiting.begin() + static_cast<std::ptrdiff_t>(known), waiting.end(),
                      by_order)) {
    sorted_.assign(waiting.begin(), waiting.end());
    std::sort(sorted_.begin(), sorted_.end(), by_order);
    waiting = sorted_;
    match();
  }
  waiting_ = waiting;
  std::vector<QueueEntry> removed(arrivals_.begin(),
                                  arrivals_.begin() + static_cast<std::ptrdiff_t>(left));
  arrivals_.erase(arrivals_.begin(), arrivals_.begin() + static_cast<std::ptrdiff_t>(left));
  if (removed.empty() && i == arrivals_.size() && i == waiting.size()) return;

  std::vector<QueueEntry> added;
  std::size_t j = i;
  next_.assign(arrivals_.begin() + static_cast<std::ptrdiff_t>(i), arrivals_.end());
  arrivals_.resize(i);
  i = 0;
  for (; j < waiting.size(); ++j) {
    while (i < next_.size() && next_[i].order < waiting[j].order) removed.push_back(next_[i++]);
    if (i < next_.size() && is_same(next_[i], waiting[j])) {
      arrivals_.push_back(next_[i++]);
      continue;
    }
    if (i < next_.size() && next_[i].order == waiting[j].order) removed.push_back(next_[i++]);
    added.push_back(make(waiting[j], now));
    arrivals_.push_back(added.back());
  }
  for (; i < next_.size(); ++i) removed.push_back(next_[i]);
  apply(removed, added);
}

void QueueIndex::apply(std::vector<QueueEntry>& removed, std::vector<QueueEntry>& added) {
  for (const QueueEntry& entry : removed) {
    total_gpus_ -= entry.gpus;
    homeless_ -= entry.homeless ? 1U : 0U;
  }
  for (const QueueEntry& entry : added) {
    total_gpus_ += entry.gpus;
    homeless_ += entry.homeless ? 1U : 0U;
  }
  if (!removed.empty()) {
    std::sort(removed.begin(), removed.end(), before);
    auto gone = removed.cbegin();
    auto out = std::lower_bound(queue_.begin(), queue_.end(), removed.front(), before);
    for (auto in = out; in != queue_.end(); ++in) {
      if (gone != removed.cend() && in->order == gone->order) {
        ++gone;
      } else {
        *out++ = *in;
      }
    }
    STARLING_CHECK(gone == removed.cend());
    queue_.erase(out, queue_.end());
  }
  if (added.empty()) return;
  std::sort(added.begin(), added.end(), before);
  const auto middle = static_cast<std::ptrdiff_t>(queue_.size());
  const bool behind = queue_.empty() || before(queue_.back(), added.front());
  queue_.insert(queue_.end(), added.begin(), added.end());
  if (!behind) std::inplace_merge(queue_.begin(), queue_.begin() + middle, queue_.end(), before);
}

const JobView& QueueIndex::job(const QueueEntry& entry) const {
  const auto found =
      std::lower_bound(waiting_.begin(), waiting_.end(), entry.order,
                       [](const JobView& job, std::uint64_t order) { return job.order < order; });
  STARLING_CHECK(found != waiting_.end() && found->order == entry.order);
  return *found;
}

}  // namespace starling
