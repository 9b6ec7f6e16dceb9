// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/waiting_list.h"

#include <algorithm>

#include "base/check.h"

namespace starling {
namespace {

bool by_order(const JobView& view, std::uint64_t order) { return view.order < order; }
bool has_left(const JobView& view) { return view.spec == nullptr; }

}  // namespace

void WaitingList::add(JobView view) {
  STARLING_CHECK(view.spec != nullptr);
  changes_.note(view.order);
  if (entries_.empty() || entries_.back().order < view.order) {
    entries_.push_back(std::move(view));
    return;
  }
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), view.order, by_order);
  const auto index = static_cast<std::size_t>(at - entries_.begin());
  if (index < first_) {  // those from here on that have left are in sight again
    marked_ += first_ - index;
    first_ = index;
  }
  if (at->order == view.order) {
    STARLING_CHECK(has_left(*at));
    --marked_;
    *at = std::move(view);
  } else {
    entries_.insert(at, std::move(view));
  }
}

JobView* WaitingList::find(std::uint64_t order) {
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto at = std::lower_bound(begin, entries_.end(), order, by_order);
  return at == entries_.end() || at->order != order || has_left(*at) ? nullptr : &*at;
}

bool WaitingList::leave(std::uint64_t order) {
  JobView* view = find(order);
  if (view == nullptr) return false;
  if (view != &entries_[first_]) changes_.note(order);
  view->spec = nullptr;
  ++marked_;
  for (; first_ < entries_.size() && has_left(entries_[first_]); ++first_) --marked_;
  return true;
}

std::span<const JobView> WaitingList::views() {
  constexpr std::size_t kWorthMoving = 64;
  if (marked_ > 0 || first_ > std::max(kWorthMoving, entries_.size() / 2)) {
    std::erase_if(entries_, has_left);
    first_ = 0;
    marked_ = 0;
  }
  return std::span<const JobView>(entries_).subspan(first_);
}

}  // namespace starling
