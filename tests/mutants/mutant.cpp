// SPDX-License-Identifier: Apache-2.0
#include "tests/mutants/mutant.h"

#include <array>
#include <cstdlib>

namespace starling::mutants {
namespace {

constexpr std::size_t kMost = 1U << 16U;
std::array<unsigned char, kMost> was_passed{};

std::size_t chosen() noexcept {
  const char* number = std::getenv("STARLING_MUTANT");
  return number == nullptr ? 0 : std::strtoul(number, nullptr, 10);
}

}  // namespace

bool on(std::size_t number) noexcept {
  static const std::size_t active = chosen();
  was_passed[number] = 1;
  return number == active;
}

std::string passed() {
  std::string text;
  for (std::size_t n = 0; n < kMost; ++n) {
    if (was_passed[n] != 0) text += std::to_string(n) + ' ';
    was_passed[n] = 0;
  }
  return text;
}

}  // namespace starling::mutants
