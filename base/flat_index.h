// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"

namespace starling {

/// Where things are: a number by key, looked up and never walked, so that its order is of no
/// account. Open addressing in one array that is at most half full: a look is one place of memory
/// as a rule, and nothing is allocated but when it grows. A key stays until clear().
template <class Key>
class FlatIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// False: the key is there already, and keeps its number. `number` is not kNone.
  bool emplace(const Key& key, std::size_t number) {
    STARLING_CHECK(number < kNone);
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (slot.number != kNone) return false;
    slot = {key, static_cast<std::uint32_t>(number)};
    ++used_;
    return true;
  }
  /// kNone: the key is not there.
  [[nodiscard]] std::uint32_t find(const Key& key) const {
    return used_ == 0 ? kNone : slots_[place_of(key)].number;
  }
  void clear() {
    slots_.clear();
    used_ = 0;
  }
  [[nodiscard]] std::size_t size() const noexcept { return used_; }

 private:
  struct Slot {
    Key key{};
    std::uint32_t number = kNone;
  };

  /// Of the key, or where it would be.
  [[nodiscard]] std::size_t place_of(const Key& key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = mix64(std::hash<Key>{}(key)) & mask;
    while (slots_[at].number != kNone && !(slots_[at].key == key)) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(16, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kNone) slots_[place_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t used_ = 0;
};

}  // namespace starling
