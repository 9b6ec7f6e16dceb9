// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gnn/learned_system.h"
#include "nets/weights.h"

namespace starling {

class PolicyModel;  // gnn/train/policy_model.h, which includes libtorch

/// A number, or a list of them, that a training file may say of a net that begins with random
/// weights.
struct NetOption {
  std::string name;
  std::uint32_t low = 0, high = 1;
  std::vector<std::uint32_t> otherwise;  ///< one number, unless it is a list
  bool list = false;
};
/// Every option of a net by name, as it was given or by default.
using NetOptions = std::map<std::string, std::vector<std::uint32_t>>;

/// Some values of a tensor, under a name of their own that evolution may be told.
struct TensorPart {
  std::string name, tensor;
  std::size_t first = 0, size = 0;
  /// They weigh what is told of other agents: runs of one agent say nothing of them.
  bool of_others = false;
};

/// How a learned system's net is trained: what the folder NAME of the system adds in train/.
struct NetTraining {
  std::string teacher = "lif:threshold=0.3";  ///< is imitated unless a stage says otherwise
  std::vector<std::string> evolved;           ///< tensors that evolve unless a stage says otherwise
  std::vector<TensorPart> parts;
  std::vector<NetOption> options;
  /// Weights to begin with; same seed, same weights.
  Weights (*fresh)(const NetOptions& options, std::uint64_t seed) = nullptr;
  /// `not_found` or `invalid` where they do not make a net of the system.
  Result<std::unique_ptr<PolicyModel>> (*model)(const Weights& weights) = nullptr;
};

/// A learned system that trains the weights of its name.
struct TrainableSystem {
  LearnedSystem system;
  NetTraining training;

  [[nodiscard]] std::string name() const { return std::string(system.facts.name); }
  /// Weights to begin with where nothing is said of the net.
  [[nodiscard]] Weights fresh(std::uint64_t seed) const;
};

/// Those of `systems` that train weights of their own.
[[nodiscard]] std::vector<TrainableSystem> trainable(const std::vector<LearnedSystem>& systems,
                                                     const NetTraining& training);

/// Those of learned_systems() that can be trained, from the same list; each folder NAME defines
/// NAME_trainable().
[[nodiscard]] std::vector<TrainableSystem> trainable_systems();

}  // namespace starling
