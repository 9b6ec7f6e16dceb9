// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gnn/train/progress.h"
#include "gnn/train/scenario.h"
#include "gnn/train/trainable_system.h"

namespace starling {

/// Evolution strategies (Salimans et al. 2017, arXiv 1703.03864) on whole runs: what counts is the
/// average job completion time itself, with everything that a decision does to those who come
/// later. Pairs of opposite steps run on the same jobs, so that the arrivals, the largest source of
/// variance, cancel.
struct EvolveOptions {
  /// What changes, tensors or parts of them (TensorPart), of which only scenarios of several agents
  /// change what is told of other agents; empty: what the system says (NetTraining::evolved).
  std::vector<std::string> tensors;
  std::uint32_t generations = 20, pairs = 12;
  std::uint32_t runs = 4;  ///< scenarios of a generation, drawn anew for each
  double sigma = 0.1, rate = 0.08;
  /// Of the generations, the last ones whose mean is the result (Polyak and Juditsky 1992): each is
  /// where chance has led, their middle is not. 0: the last one alone.
  double average = 0;
  double cut =
      0.15;  ///< log JCT by which two opposite steps differ at most: single runs are chaotic
  std::uint32_t threads = 2;
  std::uint64_t seed = 1;
  ProcessGroup* processes = nullptr;  ///< null: alone
  StageProgress progress;             ///< after each generation
  std::function<void(std::uint32_t generation, double log_jct)> report;
};

/// `invalid`, with all the names that there are, if EvolveOptions::tensors may not have this one.
[[nodiscard]] Status check_tensor(const NetTraining& training, const Weights& weights,
                                  const std::string& name);

/// `base_jct`: of each scenario, what its JCT is measured against. `invalid`: a tensor that is not
/// there, or a run that failed. Same seed, same weights, whatever the number of threads
/// and processes.
[[nodiscard]] Result<Weights> evolve(const TrainableSystem& system, const Weights& start,
                                     std::span<const Scenario> scenarios,
                                     std::span<const double> base_jct,
                                     const EvolveOptions& options);

}  // namespace starling
