// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/experiment/experiment.h"
#include "launch/experiment/grid.h"
#include "policies/dl2/dl2_division.h"
#include "sim/run/run_result.h"

namespace starling {

/// Where DL2 is trained: the first topology, workload and load of an experiment, whose jobs are
/// drawn anew by each seed. Runs may go on side by side.
class Dl2World {
 public:
  /// `invalid`: the experiment's first workload is a file's, of which there are no other draws, or
  /// none of its jobs leaves anything to choose.
  [[nodiscard]] static Result<Dl2World> make(Experiment experiment);

  /// How long its slots are: kDl2Slot.
  [[nodiscard]] Duration slot() const noexcept { return slot_; }
  /// The models of the jobs of eight seeds from that one on, in the order of their names.
  [[nodiscard]] Result<std::vector<std::string>> types(std::uint64_t first_seed) const;
  /// A run of the jobs of that seed; `parts` are asked for once for each agent.
  [[nodiscard]] Result<RunResult> run(std::uint64_t seed, std::uint32_t agents,
                                      const std::function<Dl2Division::Parts()>& parts) const;
  /// Largest seed of the experiment itself: draws of training must be others.
  [[nodiscard]] std::uint64_t largest_seed() const;

 private:
  Dl2World(Experiment experiment, Inputs inputs)
      : experiment_(std::move(experiment)), inputs_(std::move(inputs)) {}
  [[nodiscard]] Result<Trace> jobs_of(std::uint64_t seed) const;

  Experiment experiment_;
  Inputs inputs_;
  Duration slot_{};
};

}  // namespace starling
