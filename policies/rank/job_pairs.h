// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "policies/rank/pair_rates.h"
#include "policies/rank/rank_rule.h"

namespace starling {

/// A job that could be one of two on the same GPUs.
struct PairJob {
  std::uint32_t kind = 0;     ///< of PairRates
  std::int32_t priority = 0;  ///< only equals share
  double each = 0;            ///< what one unit of its speed is worth: rank x least_gpu_s
  /// What it has by the division, which others may join; gpus 0: nothing.
  RankGrant has = {};
  /// Worth of that, less what its GPUs would be worth to others; 0 of one that waits.
  double alone = 0;
  /// By type: sizes and speeds with which it could join a host, after what a restart takes.
  std::span<const std::span<const RankSize>> sizes = {};
  bool hosts = true, joins = true;
  /// The one on the same GPUs now: these two may stay so, at that size, for nothing.
  std::optional<std::size_t> beside = {};
  RankGrant now = {};     ///< what it runs on; gpus 0: it waits
  double moved = 1;       ///< part of now.speed that a move leaves it of the same size elsewhere
  bool for_good = false;  ///< once it runs it cannot be stopped
};

struct JobPair {
  std::size_t host = 0, guest = 0;
  std::uint32_t type = 0, gpus = 0;
  double gain = 0;   ///< in the unit of `alone`
  double speed = 0;  ///< of the host there, alone
};

/// Rates of two kinds on so many GPUs of a type: PairRates::of().
using PairRateOf = std::function<PairRate(std::uint32_t one, std::uint32_t other,
                                          std::uint32_t type, std::uint32_t gpus)>;

/// Of each size and type a guest looks at hosts of so many kinds, of each at the one whose speed is
/// worth least, and at those kinds first where that is worth least: they lose least by a guest.
inline constexpr std::size_t kMostKindsTried = 16;

/// Which jobs it pays to put on the GPUs of another: a guest brings
///
///   each x (its speed there, beside) - host's each x (what the host loses) - alone
///
/// so a job that waits joins where it brings more than the host loses, and two that run become a
/// pair where what they lose is less than the GPUs of one of them are worth to others. Those who
/// gain most come first; no job is in two pairs. Where a job holds a type (RankAnswer::held), no
/// guest is there for good, or hosts would never leave their GPUs free. Deterministic.
[[nodiscard]] std::vector<JobPair> choose_pairs(std::span<const PairJob> jobs,
                                                const PairRateOf& rates,
                                                const std::vector<bool>& held = {});

}  // namespace starling
