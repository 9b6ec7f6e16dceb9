// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gnn/train/decisions.h"
#include "gnn/train/returns.h"
#include "gnn/train/scenario.h"
#include "gnn/train/trainable_system.h"

namespace starling {

/// How agents decide while they learn. A job that waits is asked about again and again, so a policy
/// that draws every time does in the end whatever has a chance: `explore` keeps most decisions at
/// the best score.
struct EpisodeOptions {
  double explore = 1;          ///< part of the decisions drawn from softmax(scores / temperature)
  double temperature = 1;      ///< of those
  std::uint32_t limit = 2000;  ///< drawn decisions that are kept, of all with the same chance
  std::uint64_t seed = 1;
};

/// A run in which agents drew some of their decisions, all with the same weights.
struct Episode {
  SeenDecisions seen;               ///< the drawn ones
  std::vector<float> log_prob;      ///< by seen decision: of what was drawn
  std::vector<std::uint32_t> step;  ///< by seen decision: the time step that it was in
  std::vector<double> steps_s;      ///< of time steps: when an agent had a choice; ascending
  /// By time step, what training knows of all agents: the mean of what each knew last
  /// (LearnedScorer::state).
  std::vector<std::vector<float>> global_states;
  JobsOverTime jobs;
  double jct_s = 0;
};

/// Same arguments, same run. An error of the weights, or of the simulation.
[[nodiscard]] Result<Episode> play(const TrainableSystem& system, const Scenario& scenario,
                                   const Weights& weights, const EpisodeOptions& options);
/// Of a run that ended.
[[nodiscard]] JobsOverTime jobs_over_time(const RunResult& run);

}  // namespace starling
