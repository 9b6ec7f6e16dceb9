// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/passing.h"

#include <iterator>

namespace starling {

void Passing::started(std::int32_t priority, std::uint64_t order) {
  const auto above = newest_.upper_bound(priority);
  if (above != newest_.begin() && std::prev(above)->second >= order) return;
  auto at = newest_.insert_or_assign(priority, order).first;
  for (++at; at != newest_.end() && at->second <= order;) at = newest_.erase(at);
  if (newest_.size() > kMost) newest_.erase(newest_.begin());
}

bool Passing::has_passed(std::int32_t priority, std::uint64_t order) const {
  const auto above = newest_.upper_bound(priority);
  return above != newest_.begin() && std::prev(above)->second > order;
}

}  // namespace starling
