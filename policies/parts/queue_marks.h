// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace starling {

/// Which positions of a queue have been dealt with in this call. Forgetting them costs what was
/// marked, not how many wait.
class QueueMarks {
 public:
  /// Nothing of the positions below `size` is marked, and no other exists.
  void reset(std::size_t size) {
    for (const std::size_t i : marked_) bits_[i] = false;
    marked_.clear();
    if (bits_.size() < size) bits_.resize(2 * size, false);
  }
  void mark(std::size_t i) {
    if (bits_[i]) return;
    bits_[i] = true;
    marked_.push_back(i);
  }
  [[nodiscard]] bool operator[](std::size_t i) const { return bits_[i]; }

 private:
  std::vector<bool> bits_;
  std::vector<std::size_t> marked_;
};

}  // namespace starling
