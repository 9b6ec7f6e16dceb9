// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/trainable_system.h"

namespace starling {

Weights TrainableSystem::fresh(std::uint64_t seed) const {
  NetOptions options;
  for (const NetOption& option : training.options) options[option.name] = option.otherwise;
  return training.fresh(options, seed);
}

std::vector<TrainableSystem> trainable(const std::vector<LearnedSystem>& systems,
                                       const NetTraining& training) {
  std::vector<TrainableSystem> out;
  for (const LearnedSystem& system : systems)
    if (system.weights.empty() || system.weights == system.facts.name)
      out.push_back({system, training});
  return out;
}

}  // namespace starling
