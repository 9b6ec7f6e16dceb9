// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/share_plan.h"

#include "base/hash.h"

namespace starling {

void SharePlan::add_rows(const SharePlan& other, std::size_t from, std::size_t to) {
  if (from >= to) return;
  const std::uint32_t first = from == 0 ? 0 : other.ends_[from - 1];
  const auto shift = static_cast<std::uint32_t>(shares_.size()) - first;  // modulo 2^32
  shares_.insert(shares_.end(), other.shares_.begin() + first,
                 other.shares_.begin() + other.ends_[to - 1]);
  for (std::size_t job = from; job < to; ++job) ends_.push_back(other.ends_[job] + shift);
}

std::uint64_t SharePlan::hash() const noexcept {
  TraceHash hash;
  for (const NodeShare& share : shares_)
    hash.add((std::uint64_t{share.node} << 32U) | share.replicas);
  for (const std::uint32_t end : ends_) hash.add(end);
  return hash.value();
}

}  // namespace starling
