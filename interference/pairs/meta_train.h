// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "interference/adapt/shift_prior.h"
#include "interference/pairs/shift_task.h"

namespace starling {

/// How a ShiftPrior is learned over many changes of hardware.
struct MetaOptions {
  std::uint32_t iterations = 4000;  ///< outer steps, each of one task
  std::uint32_t shots = 24;         ///< measured pairs that a task is told of at once
  std::uint32_t steps = 5;          ///< inner gradient steps
  double inner_rate = 0.05;
  double outer_rate = 0.1;          ///< at first; falls to a hundredth, linearly
  std::uint32_t evaluations = 160;  ///< of the deviations' likelihood
  std::uint64_t seed = 1;
};

/// The means of the slopes by Reptile (A. Nichol, J. Achiam, J. Schulman, On first-order
/// meta-learning algorithms, arXiv:1803.02999): a few gradient steps of the squared error on a few
/// pairs of a task drawn at random, and a step of the initialisation towards where they led. Then
/// how far tasks are from it: deviations of the slopes by how far 200 gradient steps on a whole
/// task lead from it, in the mean of squares over the tasks, and one factor for these and the
/// deviations of effects and noise by the likelihood of each measured speed given those before it,
/// over all tasks in one random order each (the evidence), with minimize(). At least kLeastShifts
/// tasks, each with rows. Same input, same prior.
[[nodiscard]] ShiftPrior meta_train(std::span<const ShiftTask> tasks, const MetaOptions& options);

/// Log likelihood of each measured speed given those before it, summed up over the first `shots`
/// pairs of a random order of each task.
[[nodiscard]] double evidence(const ShiftPrior& prior, std::span<const ShiftTask> tasks,
                              std::uint32_t shots, std::uint64_t seed);

}  // namespace starling
