// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interference/speed.h"
#include "workload/job.h"

namespace starling {

/// What a simulated world knows and none of its agents does.
class Oracle {
 public:
  virtual ~Oracle() = default;
  /// All jobs of the run, with their true durations.
  [[nodiscard]] virtual const Trace& trace() const = 0;
  [[nodiscard]] virtual const Physics& physics() const = 0;
  /// Of a job that has not ended: seconds of work that are left, at speed 1; and until its
  /// processes work, if they only start.
  struct Left {
    double work_s = 0, starting_s = 0;
  };
  [[nodiscard]] virtual Left left(JobId job) const = 0;
};

/// A policy that can be told what is to come, for upper bounds. Only a simulation can tell it, only
/// where one agent owns everything, and only if its facts say that it knows
/// (`LengthSource::truth`).
class Foresight {
 public:
  virtual ~Foresight() = default;
  /// Before the first decision. The oracle outlives the policy.
  virtual void foresee(const Oracle& oracle) = 0;
};

}  // namespace starling
