// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim/chaos/chaos.h"

namespace starling {

/// What is left of a failing seed.
struct ShrunkChaos {
  ChaosOptions options;  ///< of one seed
  ChaosFailure failure;
  std::uint32_t tries = 0;
};

/// Runs one seed as `options` say, wherever: an aborting one may need a process of its own.
using ChaosTrial = std::function<ChaosRun(const ChaosOptions& options)>;

/// Leaves out kinds of faults, then agents and executors, then jobs, then time, as long as the seed
/// still breaks the same rule. Stops when `out_of_time` says so.
[[nodiscard]] ShrunkChaos shrink_chaos(const ChaosOptions& options, const ChaosRun& failing,
                                       const ChaosTrial& trial,
                                       const std::function<bool()>& out_of_time);

/// The arguments that repeat it, after "starling chaos sim".
[[nodiscard]] std::string chaos_arguments(std::uint64_t seed, const ChaosOptions& options);

/// Reads what chaos_arguments() wrote; the seed is `first_seed`. `invalid`: which word is wrong.
[[nodiscard]] Result<ChaosOptions> parse_chaos_arguments(const std::string& line);

/// "a,b,c" as a set.
[[nodiscard]] std::set<std::string> names_in(const std::string& list);

}  // namespace starling
