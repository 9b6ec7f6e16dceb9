// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gnn/train/actor_critic.h"
#include "gnn/train/collect.h"
#include "gnn/train/evolve.h"
#include "gnn/train/fit_policy.h"
#include "gnn/train/scenario.h"
#include "gnn/train/trainable_system.h"

namespace starling {

/// Learn to do what another placement policy does, from states that either of them leads to.
struct ImitateStage {
  std::uint32_t runs = 12;
  ImitateOptions collect;
  FitPolicyOptions fit;
};
/// Learn what roll-outs of single decisions say, a few times over.
struct ExpertStage {
  std::uint32_t rounds = 2, runs = 24;
  std::string policy = "lif:threshold=0.3";  ///< of roll-outs; "net": the net as it is then
  ExpertOptions collect;
  FitPolicyOptions fit;
};
/// Improve whole runs.
struct EvolveStage {
  EvolveOptions options;
};
/// Learn from whole runs by what each decision led to.
struct ActorCriticStage {
  ActorCriticOptions options;
};
using TrainStage = std::variant<ImitateStage, ExpertStage, EvolveStage, ActorCriticStage>;
[[nodiscard]] std::string name_of(const TrainStage& stage);

struct TrainPolicyOptions {
  TrainableSystem system;
  NetOptions net;                ///< every one of the system's; empty: all by default
  std::optional<Weights> start;  ///< to go on from; else new ones of that net
  std::vector<TrainStage> stages;
  std::string baseline = "lif:threshold=0.3";
  std::uint64_t seed = 1;
  std::uint32_t threads = 2;
  ProcessGroup* processes = nullptr;  ///< null: alone; else the first one writes into the folder
  /// Checkpoints stage-N.weights (made-N: what the stage made, kept or not) and the log
  /// train.jsonl; resumed from the last one that is there
  /// and has the same `hash`; an actor-critic goes on within its stage, from progress-N.weights.
  std::filesystem::path folder;
  std::string hash;  ///< of configuration and data
  bool resume = false;
  std::function<void(double part, const std::string& what)> progress;
};

struct TrainedPolicy {
  Weights weights;
  /// Mean of log(JCT / JCT of the baseline) over the validation scenarios, after each stage: of the
  /// weights that it left.
  std::vector<double> validation;
  /// The same of the weights that each stage made, kept or not; of the stages that this call ran.
  std::vector<double> measured;
  double seconds = 0;
};

/// Stage after stage; what leaves a stage is the better of what it made and what it began with, by
/// the validation scenarios. Same arguments, same weights, whatever the number of threads and of
/// processes. These divide whole runs; stages imitate and expert each does alone.
/// `conflict`, with nothing written: the folder holds a training and `resume` is not set, or one
/// with another `hash`. `invalid`, before the first stage: one that names a tensor that is not
/// there.
[[nodiscard]] Result<TrainedPolicy> train_policy(const std::vector<Scenario>& training,
                                                 const std::vector<Scenario>& validation,
                                                 const TrainPolicyOptions& options);

}  // namespace starling
