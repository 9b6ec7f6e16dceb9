// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace starling {

/// PCG32 (O'Neill 2014, XSH-RR): small, fast, the same numbers on every machine. Owned, forked per
/// purpose, never global. Distributions are ours, because std:: ones differ between libraries.
class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0) noexcept;

  std::uint32_t next() noexcept;
  /// Uniform in [0, n), without bias. n > 0.
  std::uint32_t below(std::uint32_t n) noexcept;
  /// Uniform in [0, 1), 53 bits.
  double uniform() noexcept;
  bool chance(double probability) noexcept { return uniform() < probability; }
  /// Mean 1.
  double exponential() noexcept;
  /// Mean 0, standard deviation 1.
  double normal() noexcept;

  /// An independent generator for one agent or one kind of fault; this one does not advance.
  [[nodiscard]] Rng fork(std::uint64_t salt) const noexcept;

 private:
  std::uint64_t state_ = 0;
  std::uint64_t increment_ = 1;
};

}  // namespace starling
