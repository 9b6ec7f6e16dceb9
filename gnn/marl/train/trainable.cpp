// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/features.h"
#include "gnn/marl/fresh_net.h"
#include "gnn/marl/systems.h"
#include "gnn/marl/train/marl_model.h"
#include "gnn/train/trainable_system.h"

namespace starling {
namespace {

Weights fresh(const NetOptions& options, std::uint64_t seed) {
  const auto yes = [&](const char* name) { return options.at(name).front() == 1; };
  return fresh_marl({yes("encoder"), yes("data_center"), yes("waits"), options.at("hidden")}, seed);
}

}  // namespace

std::vector<TrainableSystem> marl_trainable() {
  NetTraining training;
  training.evolved = {"skip"};
  training.parts = {{"skip.forward", "skip", Features::kForwardAt, Features::kForward, true}};
  training.options = {{"encoder", 0, 1, {1}},
                      {"data_center", 0, 1, {1}},
                      {"waits", 0, 1, {1}},
                      {"hidden", 1, 4096, MarlShape{}.hidden, true}};
  training.fresh = fresh;
  training.model = MarlModel::from;
  return trainable(marl_systems(), training);
}

}  // namespace starling
