// SPDX-License-Identifier: Apache-2.0
#include "base/rng.h"

#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/hash.h"

namespace starling {
namespace {
constexpr std::uint64_t kMultiplier = 6364136223846793005ULL;
}

Rng::Rng(std::uint64_t seed, std::uint64_t stream) noexcept : increment_((stream << 1U) | 1U) {
  next();
  state_ += seed;
  next();
}

std::uint32_t Rng::next() noexcept {
  const std::uint64_t old = state_;
  state_ = old * kMultiplier + increment_;
  const auto shifted = static_cast<std::uint32_t>(((old >> 18U) ^ old) >> 27U);
  const auto rotation = static_cast<std::uint32_t>(old >> 59U);
  return (shifted >> rotation) | (shifted << ((32U - rotation) & 31U));
}

std::uint32_t Rng::below(std::uint32_t n) noexcept {
  STARLING_CHECK(n > 0);
  // Lemire 2019: multiply, and reject the few values that would favour small results.
  std::uint64_t product = std::uint64_t{next()} * n;
  if (static_cast<std::uint32_t>(product) < n) {
    const std::uint32_t threshold = (0U - n) % n;
    while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{next()} * n;
  }
  return static_cast<std::uint32_t>(product >> 32U);
}

double Rng::uniform() noexcept {
  const std::uint64_t bits = (std::uint64_t{next()} << 21U) ^ (next() >> 11U);
  return static_cast<double>(bits) * 0x1.0p-53;
}

double Rng::exponential() noexcept { return -std::log(1.0 - uniform()); }

double Rng::normal() noexcept {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

Rng Rng::fork(std::uint64_t salt) const noexcept {
  return Rng(mix64(state_ ^ mix64(salt)), mix64(increment_ + salt));
}

}  // namespace starling
