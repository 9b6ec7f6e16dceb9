// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "launch/chaos/scenario/scenario.h"

namespace starling::chaos_live {

/// A job of a scenario's load, and what is done with it after so many seconds.
struct DrawnJob {
  double seconds = 0;
  std::uint32_t workers = 1, gpus = 1;  ///< GPUs of each worker
  std::uint32_t home = 0;               ///< the agent that it is offered to
  Manner manner = Manner::plain;
  std::optional<double> again_after, cancel_after, ask_after;
};

/// Draws the jobs of a scenario's load, one after the other. Same scenario and seed, same jobs.
class JobDraw {
 public:
  explicit JobDraw(const ChaosScenario& scenario);
  /// Seconds until the next, at so many jobs a second.
  [[nodiscard]] double gap(double rate) { return rng_.exponential() / rate; }
  [[nodiscard]] DrawnJob next();

 private:
  const ChaosScenario& scenario_;
  Rng rng_;
  std::uint32_t executors_;  // that stay
};

}  // namespace starling::chaos_live
