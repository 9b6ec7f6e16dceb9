// SPDX-License-Identifier: Apache-2.0
// gnn/train knows nothing of this system, and trains it.
#include "gnn/linear/linear.h"

#include <cmath>
#include <vector>

#include "base/test_folder.h"
#include "gnn/train/test_checks.h"
#include "gnn/train/test_scenario.h"
#include "gnn/train/train_policy.h"

namespace starling {

std::vector<TrainableSystem> linear_trainable();

namespace {

struct Outcome {
  double before = 0, after = 0;  ///< mean log(JCT / JCT of lif:threshold=0.3) of new arrivals
};

/// Takes the slowest place that there is, and one in pieces above all.
Weights wrong() {
  Weights out = linear_trainable().front().fresh(1);
  auto& values = out.tensors.at("weights").values;
  values[static_cast<std::size_t>(LinearFeature::waits)] = -2;
  values[static_cast<std::size_t>(LinearFeature::speed)] = -1;
  values[static_cast<std::size_t>(LinearFeature::spread)] = 1;
  return out;
}

/// What the stage makes of a net that does all wrong.
Outcome outcome_of(const TrainStage& stage) {
  const TestFolder folder("linear");
  TrainPolicyOptions options;
  options.system = linear_trainable().front();
  options.folder = folder.path;
  options.start = wrong();
  options.stages = {stage};
  const std::vector<Scenario> training{small_scenario(1), small_scenario(2), small_scenario(4)};
  const std::vector<Scenario> validation{small_scenario(3), small_scenario(5)};
  const TrainedPolicy trained = train_policy(training, validation, options).value();
  Outcome out{0, trained.validation.front()};
  for (const Scenario& scenario : validation) {
    const auto run = run_scenario(options.system.system, scenario, wrong());
    const auto rule = run_rule(scenario, options.baseline);
    out.before += std::log(figures(run.value()).avg_jct_s / figures(rule.value()).avg_jct_s) /
                  static_cast<double>(validation.size());
  }
  MESSAGE(name_of(stage), ": ", out.before, " -> ", out.after);
  return out;
}

TEST_CASE("five weights learn to place by imitation") {
  ImitateStage stage;
  stage.runs = 6;
  stage.collect.keep = 1;
  stage.fit.epochs = 20;
  stage.fit.batch = 32;
  stage.fit.rate = 0.1;
  const Outcome outcome = outcome_of(stage);
  CHECK(outcome.after < outcome.before - 0.2);
}

TEST_CASE("five weights learn to place by evolution") {
  EvolveStage stage;
  stage.options.generations = 6;
  stage.options.pairs = 6;
  stage.options.runs = 3;
  stage.options.sigma = stage.options.rate = 0.5;
  const Outcome outcome = outcome_of(stage);
  CHECK(outcome.after < outcome.before - 0.2);
}

TEST_CASE("five weights learn to place by actor-critic") {
  ActorCriticStage stage;
  ActorCriticOptions& options = stage.options;
  options.iterations = 8;
  options.runs = 6;
  options.group_size = 2;
  options.batch = 256;
  options.rate = 0.1;
  options.divergence = 1;
  options.episode.explore = 0.3;
  const Outcome outcome = outcome_of(stage);
  CHECK(outcome.after < outcome.before - 0.2);
}

}  // namespace
}  // namespace starling
