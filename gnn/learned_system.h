// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gnn/learned_scorer.h"
#include "nets/weights.h"
#include "policies/options.h"
#include "policies/registry.h"

namespace starling {

/// A scorer with those weights. `not_found` or `invalid` names the tensor that is missing or does
/// not fit.
using MakeScorer = std::function<Result<std::unique_ptr<LearnedScorer>>(const Weights&)>;

/// A placement policy that is learned, as agents run it, without libtorch. Its folder brings the
/// features, the net and the weights; its training is a TrainableSystem
/// (gnn/train/trainable_system.h). What all of them share comes with add_learned().
struct LearnedSystem {
  PolicyFacts facts;
  /// Whose weights of the program (shipped_weights()) it has unless told otherwise; empty: none are
  /// shipped, and weights=FILE has to be given. A system trains the weights of its own name.
  std::string_view weights = {};
  /// Declares and reads the options that are its own, whatever the weights, and says how its
  /// scorers are made.
  MakeScorer (*scorers)(OptionReader& reader) = nullptr;
};

/// Every learned system of the program, from the folders that the list in gnn/CMakeLists.txt names;
/// each folder NAME defines NAME_systems().
[[nodiscard]] std::vector<LearnedSystem> learned_systems();

/// One scorer of agents, by the system's default options.
[[nodiscard]] Result<std::unique_ptr<LearnedScorer>> make_scorer(const LearnedSystem& system,
                                                                 const Weights& weights);

/// Registers the policy. Options of every one: those of queues, weights=, order=, and digests= and
/// interference=, which hide something from it.
void add_learned(PolicyRegistry& registry, const LearnedSystem& system);

/// Reads order=; what it asks for is order_asked().
[[nodiscard]] std::string read_order(OptionReader& reader);
[[nodiscard]] PlacementOrder order_asked(std::string_view order, PlacementOrder trained);

}  // namespace starling
