// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/chaos/scenario/job_draw.h"
#include "sim/world/world.h"

namespace starling::chaos_live {

/// The load of a scenario on a simulated flock: the jobs that a live run draws from the same seed,
/// submitted, offered again, cancelled and asked about by one client. Outlives the world.
class SimulatedLoad {
 public:
  explicit SimulatedLoad(const ChaosScenario& scenario) : scenario_(scenario), draw_(scenario) {}
  /// From the first instant until the scenario's length is over.
  void start(World& world) {
    world.at(Instant{}, [this](World& w) { arrive(w); });
  }
  /// So many times the rate from now on.
  void set_factor(double factor) noexcept { factor_ = factor; }
  /// How jobs behave, as shares of all: which one does so is the world's to draw.
  [[nodiscard]] starling::Manners manners() const;
  /// At least as much work as all its jobs are, one after the other.
  [[nodiscard]] Duration serial() const;

 private:
  void arrive(World& world);
  void submit(World& world, const DrawnJob& drawn);

  const ChaosScenario& scenario_;
  JobDraw draw_;
  double factor_ = 1;
  std::uint32_t jobs_ = 0;
};

}  // namespace starling::chaos_live
