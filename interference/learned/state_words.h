// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"

namespace starling {

/// What was learned is kept as words of eight bytes, the lowest first, with a check at the end.

inline void put_word(std::vector<std::byte>& out, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

[[nodiscard]] inline std::uint64_t word_of(std::span<const std::byte> bytes, std::size_t word) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i)
    value |= static_cast<std::uint64_t>(bytes[8 * word + i]) << (8 * i);
  return value;
}

[[nodiscard]] inline std::uint64_t check_of_words(std::span<const std::byte> bytes,
                                                  std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (std::size_t word = 0; word < bytes.size() / 8; ++word)
    hash = mix64(hash ^ word_of(bytes, word));
  return hash;
}

}  // namespace starling
