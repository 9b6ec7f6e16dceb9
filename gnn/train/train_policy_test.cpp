// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/train_policy.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/test_folder.h"
#include "gnn/train/test_checks.h"
#include "gnn/train/test_scenario.h"

namespace starling {
namespace {

TrainPolicyOptions every_stage(const std::filesystem::path& folder) {
  TrainPolicyOptions options;
  options.system = marl();
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

/// A training of a few seconds at most.
TrainPolicyOptions one_stage(const std::filesystem::path& folder) {
  TrainPolicyOptions options;
  options.system = marl();
  options.folder = folder;
  options.hash = "1";
  EvolveStage evolve;
  evolve.options.generations = 1;
  evolve.options.pairs = 1;
  evolve.options.runs = 1;
  options.stages = {evolve};
  return options;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What a run of those weights gives, by the baseline.
double log_jct(const TrainPolicyOptions& options, const Weights& weights,
               const Scenario& scenario) {
  const auto run = run_scenario(options.system.system, scenario, weights);
  const auto rule = run_rule(scenario, options.baseline);
  return std::log(figures(run.value()).avg_jct_s / figures(rule.value()).avg_jct_s);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the same seed gives the same weights, however many threads, and also when resumed") {
  const std::vector<Scenario> training{small_scenario(1), small_scenario(2)};
  const std::vector<Scenario> validation{small_scenario(3)};
  const TestFolder folder("train");
  TrainPolicyOptions options = every_stage(folder.path);
  // So fast that what it makes has to be refused.
  std::get<ExpertStage>(options.stages[1]).fit.rate = 5;
  options.threads = 1;
  const TrainedPolicy one = train_policy(training, validation, options).value();
  options.threads = 3;
  const TestFolder other("train");
  options.folder = other.path;
  const TrainedPolicy three = train_policy(training, validation, options).value();
  CHECK(one.weights.hash() == three.weights.hash());
  CHECK(one.validation == three.validation);
  CHECK(one.measured == three.measured);
  // No stage leaves what is worse than what it began with: what is kept runs as well as is said.
  REQUIRE(one.measured.size() == 3);
  CHECK(one.measured[1] > one.measured[0]);
  CHECK(one.validation == std::vector<double>{one.measured[0], one.measured[0],
                                              std::min(one.measured[0], one.measured[2])});
  CHECK(log_jct(options, one.weights, validation.front()) == one.validation.back());

  std::filesystem::remove(other.path / "stage-2.weights");
  options.resume = true;
  const TrainedPolicy resumed = train_policy(training, validation, options).value();
  CHECK(resumed.weights.hash() == one.weights.hash());
  CHECK(std::filesystem::file_size(other.path / "train.jsonl") > 0);
}

TEST_CASE("a folder that holds a training is only written into to go on with it") {
  const std::vector<Scenario> training{small_scenario(1)}, validation{small_scenario(3)};
  const TestFolder folder("train");
  TrainPolicyOptions options = one_stage(folder.path);
  options.resume = true;  // with nothing to go on from: from the beginning
  const TrainedPolicy first = train_policy(training, validation, options).value();
  const std::string log = text_of(folder.path / "train.jsonl");
  const std::string checkpoint = text_of(folder.path / "stage-0.weights");
  REQUIRE_FALSE(checkpoint.empty());
  const auto refusal = [&] {
    const auto again = train_policy(training, validation, options);
    REQUIRE_FALSE(again.ok());
    CHECK(again.error().code == Errc::conflict);
    CHECK(text_of(folder.path / "train.jsonl") == log);
    CHECK(text_of(folder.path / "stage-0.weights") == checkpoint);
    return again.error().message;
  };

  options.resume = false;
  CHECK(refusal() ==
        folder.path.string() +
            " holds a training already; give --resume to go on with it, or another --folder");
  options.resume = true;
  options.hash = "2";
  const std::string other = "the checkpoints in " + folder.path.string() +
                            " are of another configuration or of other data; give another --folder";
  CHECK(refusal() == other);
  options.hash = "1";
  CHECK(train_policy(training, validation, options).value().weights.hash() == first.weights.hash());

  // The same where no stage had ended yet.
  std::filesystem::rename(folder.path / "stage-0.weights", folder.path / "kept");
  options.hash = "2";
  const auto unfinished = train_policy(training, validation, options);
  REQUIRE_FALSE(unfinished.ok());
  CHECK(unfinished.error().message == other);
}

TEST_CASE("imitation comes close to the rule that it imitates") {
  const std::vector<Scenario> training{small_scenario(1), small_scenario(2), small_scenario(4)};
  const std::vector<Scenario> validation{small_scenario(3), small_scenario(5)};
  const TestFolder folder("train");
  TrainPolicyOptions options;
  options.system = marl();
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
  std::get<EvolveStage>(options.stages[2]).options.tensors = {"skip", "skipp"};
  const auto failed = train_policy({small_scenario(1)}, {small_scenario(2)}, options);
  REQUIRE_FALSE(failed);
  CHECK(has(failed.error().message, "no tensor 'skipp'; there are actor.0.bias, "));
  CHECK(has(failed.error().message, ", skip, skip.forward"));
  CHECK(std::filesystem::is_empty(folder.path));  // no stage has run
}

}  // namespace
}  // namespace starling
