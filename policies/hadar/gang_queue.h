// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "policies/hadar/gpu_market.h"

namespace starling {

/// A job that got GPUs.
struct ChosenGang {
  std::size_t job = 0;  ///< index
  GangOffer offer;
};

/// Up to so many jobs a dynamic programme says which start; of more, those that pay off most.
constexpr std::size_t kMostPlannedGangs = 12;
/// States that it looks at; beyond them who is still to be decided takes its best offer.
constexpr std::size_t kMostGangStates = 4096;

/// Which start where, of `jobs` in order of arrival: each is skipped, or takes its best offer at
/// the prices that those before it leave, if that pays off; the most payoff in all. What was chosen
/// is taken in the market. With more than kMostPlannedGangs jobs: in the order of what the first
/// offers pay off for each GPU and round, each takes its best offer of that moment if it pays off.
[[nodiscard]] std::vector<ChosenGang> choose_gangs(GpuMarket& market,
                                                   std::span<const GangJob> jobs);

/// The same order for those whom prices keep out, so that nothing is left idle: each takes its best
/// offer whatever it pays. `left`: indices.
void fill_with_gangs(GpuMarket& market, std::span<const GangJob> jobs,
                     std::span<const std::size_t> left, std::vector<ChosenGang>& chosen);

}  // namespace starling
