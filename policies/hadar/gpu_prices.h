// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace starling {

/// What a GPU costs for a round, by how many of its server are taken: k(taken) = low * (high / low)
/// ^ (taken / all), cheap while it is empty, and at the end more than any job can pay. In units of
/// utility. The law of OASiS (INFOCOM 2018) and, as we read its abstract, of Hadar (IPDPS 2024).
struct PriceRange {
  double low = 0, high = 0;  ///< 0 < low <= high
  /// For each GPU, where `taken` of `all` are.
  [[nodiscard]] double at(double taken, double all) const noexcept;
};

/// What prices are made of: one job, at its best and at its worst.
struct PriceAnchor {
  double best_utility = 0;   ///< started now, as fast as it can be
  double worst_utility = 0;  ///< started now, as slow as it can be
  double gpus = 1;           ///< the fewest that it can have on a server
  double gpu_rounds = 1;     ///< that it would take so
};
/// high: the most that any job could pay for a GPU, so that a full server is too dear for whatever
/// part of a gang. low: so little that all GPUs for all `rounds`
/// cost a quarter of the least utility at most:
///
///   low = 1/(4 eta) min_j worst_utility / gpu_rounds,  1/eta = min_j gpu_rounds / (gpus * rounds)
///
/// Without jobs {1, 1}.
[[nodiscard]] PriceRange price_range(std::span<const PriceAnchor> jobs, double gpus, double rounds);

/// 2 alpha, alpha = max over types of max(1, ln(high / low)): a market with these prices, that
/// takes a job exactly if its utility is more than what it pays, gets at least the best utility
/// over this, where each job takes little of a server (standard for the law; our tests hold small
/// cases to it).
[[nodiscard]] double competitive_ratio(std::span<const PriceRange> types) noexcept;

}  // namespace starling
