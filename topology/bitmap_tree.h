// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace starling {

/// A set of small integers [0, size) that answers "the lowest member from x on" by a few word
/// reads: one bit a member, and above each 64 words one word that says which of them are not empty.
class BitmapTree {
 public:
  BitmapTree() = default;
  explicit BitmapTree(std::uint32_t size);

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] bool test(std::uint32_t i) const noexcept {
    return (words_[i >> 6U] >> (i & 63U) & 1U) != 0;
  }
  void set(std::uint32_t i) noexcept;
  void reset(std::uint32_t i) noexcept;
  /// The lowest member >= from, or size() if there is none. `from` may be size().
  [[nodiscard]] std::uint32_t next(std::uint32_t from) const noexcept;

 private:
  static constexpr std::uint32_t kLevelsMax = 6;  // 64^6 > 2^32
  std::uint32_t size_ = 0;
  std::uint32_t levels_ = 0;
  std::array<std::uint32_t, kLevelsMax + 1> start_{};  // of each level in words_; the members first
  std::vector<std::uint64_t> words_;
};

}  // namespace starling
