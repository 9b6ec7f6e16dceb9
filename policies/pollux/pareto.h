// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace starling {

/// Two figures of one plan, of each of which more is better.
using TwoGoals = std::array<double, 2>;

/// Better in one and worse in none.
[[nodiscard]] bool dominates(const TwoGoals& a, const TwoGoals& b) noexcept;

/// Where a plan stands among others, as NSGA-II (Deb 2002) sorts them.
struct ParetoPlace {
  std::uint32_t rank = 0;  ///< fronts that have to go before none dominates it
  double crowding = 0;     ///< how far its neighbours in its front are; infinite at its ends
};
[[nodiscard]] std::vector<ParetoPlace> pareto_places(std::span<const TwoGoals> plans);

/// Indices of the best `most`: by rank, of one rank those with most space around them, ties in
/// their order.
[[nodiscard]] std::vector<std::size_t> pareto_best(std::span<const ParetoPlace> places,
                                                   std::size_t most);

}  // namespace starling
