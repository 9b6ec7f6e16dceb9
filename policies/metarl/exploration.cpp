// SPDX-License-Identifier: Apache-2.0
#include "policies/metarl/exploration.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace starling {
namespace {

constexpr double kMostSeconds = 1e15;  // of GPU time
constexpr std::size_t kRunningWords = 4, kPairWords = 3;

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0x6d657461;
  for (const char c : text) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

std::uint64_t explored_pair(std::string_view one, std::string_view other, std::uint16_t gpu_type) {
  return mix64((hash_of(one) ^ hash_of(other)) + (hash_of(one) & hash_of(other)) + gpu_type);
}

void ExplorationBudget::pass(Instant now, std::uint32_t gpus) {
  const double most = part_ * gpus * seconds(kSaved);
  if (!std::exchange(began_, true)) {
    earned_ = most;
  } else {
    const double past = std::max(seconds(now - last_), 0.0);
    double cost = 0;
    for (auto& [order, job] : running_) {
      if (!job.runs) continue;
      cost += job.gpus * past;
      job.left = std::max(job.left - job.gpus * past, 0.0);
    }
    spent_ += cost;
    earned_ = std::min(earned_ + part_ * gpus * past, most) - cost;
  }
  last_ = now;
  promise();
}

void ExplorationBudget::promise() {
  promised_ = 0;
  for (const auto& [order, job] : running_) promised_ += job.left;
}

void ExplorationBudget::begin(std::uint64_t order, std::uint32_t gpus, double gpu_seconds,
                              std::uint64_t pair) {
  if (running_.size() >= kMostRunning && !running_.contains(order)) return;
  running_[order] = {gpus, gpu_seconds, pair, false};
  promise();
}

void ExplorationBudget::note(std::uint64_t pair) {
  ++version_;
  Count& count = pairs_[pair];
  ++count.times;
  count.last = ++begun_;
  if (pairs_.size() <= kMostPairs) return;
  pairs_.erase(std::ranges::min_element(
      pairs_, [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

std::uint32_t ExplorationBudget::explored(std::uint64_t pair) const {
  const auto at = pairs_.find(pair);
  return at == pairs_.end() ? 0 : at->second.times;
}

void ExplorationBudget::save(MemoryWriter& out, Instant origin) const {
  out.word(began_ ? 1 : 0);
  out.instant(last_, origin);
  out.number(earned_), out.number(spent_);
  out.word(begun_);
  out.word(running_.size());
  for (const auto& [order, job] : running_) {
    out.word(order), out.word(std::uint64_t{job.gpus} << 1U | (job.runs ? 1U : 0U));
    out.number(job.left), out.word(job.pair);
  }
  out.word(pairs_.size());
  for (const auto& [pair, count] : pairs_)
    out.word(pair), out.word(count.times), out.word(count.last);
}

void ExplorationBudget::restore(MemoryReader& in, Instant origin) {
  ExplorationBudget read(part_);
  read.began_ = in.word() != 0;
  read.last_ = in.instant(origin);
  read.earned_ = in.number(-kMostSeconds, kMostSeconds);
  read.spent_ = in.number(0, kMostSeconds);
  read.begun_ = in.word();
  for (std::size_t left = in.count(kMostRunning, kRunningWords); left > 0; --left) {
    Running& job = read.running_[in.word()];
    const std::uint64_t word = in.word();
    job.gpus = static_cast<std::uint32_t>(word >> 1U), job.runs = (word & 1U) != 0;
    job.left = in.number(0, kMostSeconds), job.pair = in.word();
  }
  for (std::size_t left = in.count(kMostPairs, kPairWords); left > 0; --left) {
    Count& count = read.pairs_[in.word()];
    count.times = static_cast<std::uint32_t>(in.word());
    count.last = in.word();
  }
  if (!in.whole()) return;
  read.version_ = version_ + 1;
  read.promise();
  *this = std::move(read);
}

}  // namespace starling
