// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gnn/train/episode.h"
#include "gnn/train/learner.h"
#include "gnn/train/progress.h"
#include "gnn/train/scenario.h"

namespace starling {

/// Multi-agent actor-critic: all agents draw from the same policy, and the advantage of a decision
/// is told by how many jobs the system held afterwards, less how many it held at the same time in
/// other runs of the same jobs, so that the arrivals cancel.
struct ActorCriticOptions {
  std::uint32_t iterations = 30;
  std::uint32_t runs = 8;        ///< of an iteration
  std::uint32_t group_size = 1;  ///< runs of the same jobs, each held against the mean of the
                                 ///< others; 1: against the baseline
  std::uint32_t shards = 4;      ///< of an iteration's runs and gradients, which processes divide
  std::uint32_t epochs = 3, batch = 1024;
  EpisodeOptions episode;
  double horizon_h = 10;  ///< what comes so much later counts the e-th part
  double lambda = 0.95;   ///< of generalised advantages, for each hour
  double rate = 3e-4, critic_rate = 1e-3;
  double clip = 0.2, gradient_cut = 0.5;
  double entropy = 0.01, entropy_end = 0.001;  ///< falls in a straight line
  double divergence = 0.02;                    ///< mean of a step at which an iteration ends early
  /// Curriculum: at first the part `easy` of the scenarios, the easiest; all after the part `ramp`
  /// of the iterations.
  double easy = 1, ramp = 0.5;
  std::uint32_t threads = 2;  ///< for the runs; gradients are for one, and for processes
  std::uint64_t seed = 1;
  ProcessGroup* processes = nullptr;  ///< null: alone
  StageProgress progress;             ///< after each iteration

  /// Means over the runs, or over the decisions, of an iteration.
  struct Report {
    std::uint32_t iteration = 0;
    double log_jct = 0;  ///< log(JCT / JCT of the baseline), with drawing
    /// Cosine between the gradients of the two halves of the runs: how much of it is not chance.
    double agreement = 0;
    double entropy = 0, critic_error = 0, explained = 0, divergence = 0, clipped = 0;
    std::uint64_t decisions = 0;
    std::size_t scenarios = 0;  ///< of the curriculum
  };
  std::function<void(const Report&)> report;
};

/// A scenario's baseline run.
struct Baseline {
  double jct_s = 0;
  JobsOverTime jobs;
};

/// By load, kinds of GPUs and number of agents: larger is harder.
[[nodiscard]] double difficulty(const Scenario& scenario);

/// `baselines`: by scenario. Same seed, same weights, whatever the number of threads and
/// processes.
[[nodiscard]] Result<Weights> actor_critic(const TrainableSystem& system, const Weights& start,
                                           std::span<const Scenario> scenarios,
                                           std::span<const Baseline> baselines,
                                           const ActorCriticOptions& options);

}  // namespace starling
