// SPDX-License-Identifier: Apache-2.0
#include "topology/bitmap_tree.h"

#include <bit>

namespace starling {

BitmapTree::BitmapTree(std::uint32_t size) : size_(size) {
  if (size == 0) return;
  std::uint32_t count = size;
  std::uint32_t total = 0;
  do {
    count = (count >> 6U) + ((count & 63U) != 0 ? 1U : 0U);
    start_[levels_++] = total;
    total += count;
  } while (count > 1);
  start_[levels_] = total;
  words_.assign(total, 0);
}

void BitmapTree::set(std::uint32_t i) noexcept {
  for (std::uint32_t level = 0; level < levels_; ++level, i >>= 6U) {
    std::uint64_t& word = words_[start_[level] + (i >> 6U)];
    const bool marked_above = word != 0;
    word |= std::uint64_t{1} << (i & 63U);
    if (marked_above) return;
  }
}

void BitmapTree::reset(std::uint32_t i) noexcept {
  for (std::uint32_t level = 0; level < levels_; ++level, i >>= 6U) {
    std::uint64_t& word = words_[start_[level] + (i >> 6U)];
    word &= ~(std::uint64_t{1} << (i & 63U));
    if (word != 0) return;
  }
}

std::uint32_t BitmapTree::next(std::uint32_t from) const noexcept {
  if (from >= size_) return size_;
  std::uint32_t i = from;
  for (std::uint32_t level = 0; level < levels_; ++level) {
    const std::uint32_t at = start_[level] + (i >> 6U);
    if (at >= start_[level + 1]) return size_;
    const std::uint64_t word = words_[at] & (~std::uint64_t{0} << (i & 63U));
    if (word == 0) {
      i = (i >> 6U) + 1;  // the next word, as a bit of the level above
      continue;
    }
    i = (i & ~63U) | static_cast<std::uint32_t>(std::countr_zero(word));
    while (level > 0) {
      --level;
      i = (i << 6U) | static_cast<std::uint32_t>(std::countr_zero(words_[start_[level] + i]));
    }
    return i;
  }
  return size_;
}

}  // namespace starling
