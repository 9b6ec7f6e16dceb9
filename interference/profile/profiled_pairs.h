// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "interference/profile/robust.h"
#include "interference/profile/samples.h"

namespace starling {

/// A window in which others had more than this share of its cores is disturbed.
inline constexpr double kDisturbedAbove = 0.1;

/// One pair at one place, from all its repeats.
struct ProfiledPair {
  WorkloadSpec a, b;
  CorePlace place;
  Estimate steps_a, steps_b;  ///< steps per second beside each other
  Estimate iso_a, iso_b;      ///< alone, measured within seconds of those
  /// Of each repeat's own ratio, beside to alone: drift between repeats cancels out. So it is close
  /// to steps / iso, not equal to it.
  Estimate norm_a, norm_b;
  /// The same per CPU second: what is lost to shared caches, memory and links, without the waiting
  /// for a core. Hardly touched by others' load.
  Estimate per_cpu_a, per_cpu_b;
  std::uint32_t repeats = 0;  ///< measured
  double other_load = 0;      ///< median over the repeats that count
  /// Too few repeats were undisturbed, so all of them count, and the norms lean towards 1.
  bool noisy = false;
};

/// Rows in the order of the plan's places, then a, then b; pairs without a sample are left out.
/// Disturbed repeats do not count where at least half of the repeats, and three, are undisturbed.
[[nodiscard]] std::vector<ProfiledPair> profiled_pairs(const ProfilePlan& plan,
                                                       std::span<const ProfileSample> samples);

/// The columns of Gavel's published pairs, `gpu` being hardware/relation, then: relation, cores,
/// repeats, repeats that count, 95 % intervals of both norms (empty below 6), norms per CPU second,
/// other load.
[[nodiscard]] std::string profiled_pairs_csv(std::span<const ProfiledPair> rows,
                                             const std::string& campaign,
                                             const std::string& hardware);

}  // namespace starling
