// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/policy.h"

namespace starling {

/// What a policy may do to bring jobs to their end sooner.
enum class Power : std::uint8_t {
  place = 1,    ///< choose their GPUs
  order = 2,    ///< choose whose turn it is, or stop some for others
  resize = 4,   ///< choose how many workers they have
  rebatch = 8,  ///< choose their batch
};

/// A set of those.
struct Powers {
  std::uint8_t bits = 0;
  [[nodiscard]] constexpr bool has(Power power) const {
    return (bits & static_cast<std::uint8_t>(power)) != 0;
  }
  constexpr void add(Power power) { bits |= static_cast<std::uint8_t>(power); }
  auto operator<=>(const Powers&) const = default;
};

/// What the policy may do. Every policy places; all but family A order, and those of it that say so
/// or stop jobs; elastic ones resize.
[[nodiscard]] Powers powers_of(const PolicyFacts& facts);

/// Their words, ascending: "place", "order", "resize", "rebatch".
[[nodiscard]] std::vector<std::string_view> words(Powers powers);
/// "place, order".
[[nodiscard]] std::string text_of(Powers powers);
/// None: there is no power of that name.
[[nodiscard]] std::optional<Power> read_power(std::string_view word);

/// From what the policy can know how long jobs take, best first: "everything", "estimates",
/// "forecasts"; "nothing" alone.
[[nodiscard]] std::vector<std::string_view> words(LengthSource source);
/// "estimates or forecasts": these where those are not to be had.
[[nodiscard]] std::string text_of(LengthSource source);

}  // namespace starling
