// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/foresight.h"
#include "sim/world/hardware.h"
#include "sim/world/queue.h"

namespace starling {

/// What the simulated world knows, for policies that are upper bounds.
class SimOracle final : public Oracle {
 public:
  /// All outlive it.
  SimOracle(const Trace& trace, const Physics& physics, const Hardware& hardware,
            const SimClock& clock)
      : trace_(trace), physics_(physics), hardware_(hardware), clock_(clock) {}
  [[nodiscard]] const Trace& trace() const override { return trace_; }
  [[nodiscard]] const Physics& physics() const override { return physics_; }
  [[nodiscard]] Left left(JobId job) const override {
    const Hardware::Left left = hardware_.left(job);
    return {seconds(left.work), seconds(left.from - clock_.now())};
  }

 private:
  const Trace& trace_;
  const Physics& physics_;
  const Hardware& hardware_;
  const SimClock& clock_;
};

}  // namespace starling
