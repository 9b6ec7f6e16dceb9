// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/learn/dl2_world.h"
#include "policies/dl2/dl2_learner.h"

namespace starling {

/// Not the paper's: what the shipped weights were trained by.
[[nodiscard]] Dl2LearnOptions usual_learning();

/// How DL2's net is trained: warm-up on an incumbent's decisions, then by what its own lead to.
struct Dl2TrainingOptions {
  std::string incumbent = "drf";
  std::uint32_t window = 20;
  bool shared = true;  ///< Dl2Shape::shared
  std::vector<std::uint32_t> hidden{32, 32};
  std::uint32_t warm_draws = 60, held_draws = 10;
  std::uint32_t passes = 2;      ///< of the warm-up; more of them, and little is left to explore
  std::uint32_t episodes = 400;  ///< runs of learning; 0: warm-up alone
  std::uint32_t agents = 1;      ///< of each run, with one learner
  std::uint32_t validate_every = 50, validation_draws = 24;
  std::uint64_t first_seed = 100'000;  ///< of draws; above the experiment's own
  std::uint64_t seed = 1;              ///< of weights and choices
  std::uint32_t threads = 2;           ///< of validation
  double temperature = 0;              ///< of validation: Dl2Net::choose()
  std::optional<Weights> start;        ///< in the place of a warm-up; with the shape that they have
  Dl2LearnOptions learn = usual_learning();
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

struct Dl2TrainingReport {
  double agreement = 0;  ///< of held-out examples, after the warm-up
  std::size_t examples = 0, held = 0;
  double incumbent_jct_s = 0;  ///< means over the validation draws
  double warm_jct_s = 0, best_jct_s = 0, last_jct_s = 0;
  std::uint32_t best_episode = 0;  ///< after so many
  Weights weights;                 ///< the best
};

/// Deterministic. The weights are those of the lowest mean JCT over the validation draws among the
/// warm-up, every `validate_every`th episode and the last one; draws of the experiment itself are
/// never looked at.
[[nodiscard]] Result<Dl2TrainingReport> train_dl2(const Dl2World& world,
                                                  const Dl2TrainingOptions& options);

}  // namespace starling
