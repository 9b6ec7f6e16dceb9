#include "gnn/train/train_policy.h"

#include <cmath>
#include <filesystem>

#include "base/test_folder.h"
#include "gnn/train/test_checks.h"
#include "gnn/train/test_scenario.h"

namespace starling {
namespace {

TrainPolicyOptions every_stage(const std::filesystem::path& folder) {
  TrainPolicyOptions options;
  options.folder = folder;
  ImitateStage imitate;
  imitate.runs = 3;
  imitate.fit.epochs = 8;
  ExpertStage expert;
  expert.rounds = 1;
  expert.runs = 2;
  expert.collect.sample = 0.3;
  expert.collect.limit = 20;
  expert.fit.epochs = 2;
  EvolveStage evolve;
  evolve.options.generations = 2;
  evolve.options.pairs = 2;
  evolve.options.runs = 2;
  options.stages = {imitate, expert, evolve};
  return options;
}

TEST_CASE("the same seed gives the same weights, however many threads, and also when resumed") {
  const std::vector<Scenario> training{small_scenario(1), small_scenario(2)};
  const std::vector<Scenario> validation{small_scenario(3)};
  const TestFolder folder("train");
  TrainPolicyOptions options = every_stage(folder.path);
  options.threads = 1;
  const TrainedPolicy one = train_policy(training, validation, options).value();
  options.threads = 3;
  const TrainedPolicy three = train_policy(training, validation, options).value();
  CHECK(one.weights.hash() == three.weights.hash());
  CHECK(one.validation == three.validation);
  // No stage may leave what is worse than what it began with.
  for (std::size_t i = 1; i < one.validation.size(); ++i)
    CHECK(one.validation[i] <= one.validation[i - 1]);

  std::filesystem::remove(folder.path / "stage-2.weights");
  options.resume = true;
  const TrainedPolicy resumed = train_policy(training, validation, options).value();
  CHECK(resumed.weights.hash() == one.weights.hash());
  CHECK(std::filesystem::file_size(folder.path / "train.jsonl") > 0);
}

TEST_CASE("imitation comes close to the rule that it imitates") {
  const std::vector<Scenario> training{small_scenario(1), small_scenario(2), small_scenario(4)};
  const std::vector<Scenario> validation{small_scenario(3), small_scenario(5)};
  const TestFolder folder("train");
  TrainPolicyOptions options;
  options.folder = folder.path;
  ImitateStage imitate;
  imitate.runs = 9;
  imitate.collect.keep = 1;
  imitate.fit.epochs = 30;
  imitate.fit.batch = 32;
  options.stages = {imitate};
  const TrainedPolicy trained = train_policy(training, validation, options).value();
  CHECK(std::abs(trained.validation.front()) < 0.1);
}

TEST_CASE("what cannot be trained says why") {
  const TestFolder folder("train");
  TrainPolicyOptions options = every_stage(folder.path);
  CHECK_FALSE(train_policy({}, {small_scenario(1)}, options));
  std::get<EvolveStage>(options.stages[2]).options.tensors = {"skipp"};
  const auto failed = train_policy({small_scenario(1)}, {small_scenario(2)}, options);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find("skipp") != std::string::npos);
}

}  // namespace
}  // namespace starling
