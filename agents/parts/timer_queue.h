// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "base/time.h"

namespace starling {

/// When each of many things is to be looked at. A thing has one time at most, and keeps it itself
/// (`held`, kNever: none), so that moving it finds the old one without another table.
template <class Key>
class TimerQueue {
 public:
  void move(const Key& key, Instant& held, Instant when) {
    if (held == when) return;
    if (held != kNever) queue_.erase({held, key});
    held = when;
    if (when != kNever) queue_.emplace(when, key);
  }
  /// The first of those due at `now`, earliest first, ties by key; it stays until it is moved.
  [[nodiscard]] std::optional<Key> due(Instant now) const {
    if (next() > now) return std::nullopt;
    return queue_.begin()->second;
  }
  [[nodiscard]] Instant next() const { return queue_.empty() ? kNever : queue_.begin()->first; }
  /// All of them, earliest first, as pairs of time and key.
  [[nodiscard]] const std::set<std::pair<Instant, Key>>& all() const noexcept { return queue_; }
  [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }

 private:
  std::set<std::pair<Instant, Key>> queue_;
};

}  // namespace starling
