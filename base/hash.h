// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace starling {

/// Spreads every bit over all others (the finisher of SplitMix64, Steele et al. 2014).
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// Running hash of what happened, in order: two runs with equal hashes did the same. Not
/// cryptographic.
class TraceHash {
 public:
  constexpr void add(std::uint64_t x) noexcept { state_ = mix64(state_ ^ x) + x; }
  constexpr void add(std::string_view text) noexcept {
    for (const char c : text) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    add(text.size());
  }
  void add(std::span<const std::byte> bytes) noexcept {
    add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace starling
