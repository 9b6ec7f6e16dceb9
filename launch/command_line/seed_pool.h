// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace starling {

/// Calls `work` for each of `count` seeds in `processes` child processes, seed by seed in turn, and
/// `done` here with what it returned, in the order in which they end. A child that dies in a seed
/// costs that seed alone: `died` is called in place of `done`, with how it ended. `wall_s`: seconds
/// that the seed took. `waits`, where there is one, is called about once a second with the seed
/// that has been running for the longest time. `io`: no process or pipe is to be had.
struct SeedPool {
  std::uint32_t processes = 1;
  std::function<std::string(std::uint64_t seed)> work;
  std::function<void(std::uint64_t seed, const std::string& result, double wall_s)> done;
  std::function<void(std::uint64_t seed, const std::string& how, double wall_s)> died;
  std::function<void(std::uint64_t seed, double wall_s)> waits = nullptr;

  Status run(std::uint64_t first, std::uint64_t count) const;
};

}  // namespace starling
