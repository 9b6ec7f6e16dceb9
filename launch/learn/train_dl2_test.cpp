// SPDX-License-Identifier: Apache-2.0
#include "launch/learn/train_dl2.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "launch/experiment/load_experiment.h"

namespace starling {
namespace {

/// Six servers of DL2's testbed.
Experiment small(const std::string& workload = "generate: dl2-like, jobs: 16") {
  const std::string text =
      "name: small\n"
      "topologies: [{generate: flat, servers: 6, gpus_per_server: 2, cpus: 8}]\n"
      "workloads: [{name: jobs, " +
      workload +
      "}]\n"
      "loads: [2]\nphysics: dl2\nspeed: physics\nnetwork: ideal\nseeds: 5\npolicies: [drf]\n";
  const auto made = parse_experiment(text, "small.yaml", make_policy_registry());
  REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
  return made.value();
}

Dl2TrainingOptions short_training() {
  Dl2TrainingOptions options;
  options.warm_draws = 30;
  options.held_draws = 5;
  options.passes = 30;
  options.hidden = {32};
  options.episodes = 0;
  options.validation_draws = 8;
  options.threads = 1;
  return options;
}

TEST_CASE("after its warm-up a net agrees with its incumbent, and its jobs take as long") {
  const Dl2World world = Dl2World::make(small()).value();
  CHECK(world.types(100'000).value().size() == 8);
  const auto trained = train_dl2(world, short_training()).value();
  CHECK(trained.held > 500);
  CHECK(trained.agreement > 0.95);
  CHECK(trained.warm_jct_s == doctest::Approx(trained.incumbent_jct_s).epsilon(0.02));
  MESSAGE("agreement " << trained.agreement << " of " << trained.held << ", mean JCT "
                       << trained.warm_jct_s << " s, drf " << trained.incumbent_jct_s << " s");
  CHECK(train_dl2(world, short_training()).value().weights.hash() == trained.weights.hash());
}

TEST_CASE("from there it learns what is better than its incumbent") {
  const Dl2World world = Dl2World::make(small()).value();
  Dl2TrainingOptions options = short_training();
  options.passes = 12;
  options.episodes = 150;
  options.validate_every = 30;
  options.learn.critic_first = 300;
  options.learn.batch = 64;
  options.learn.rate = 1e-3;
  const auto trained = train_dl2(world, options).value();
  CHECK(trained.best_jct_s < 0.95 * trained.incumbent_jct_s);
  MESSAGE("mean JCT " << trained.best_jct_s << " s, drf " << trained.incumbent_jct_s << " s");
}

TEST_CASE("what the last runs taught is validated, too") {
  const Dl2World world = Dl2World::make(small()).value();
  Dl2TrainingOptions options = short_training();
  options.warm_draws = options.held_draws = options.passes = 1;
  options.validation_draws = 1;
  options.episodes = 3;
  options.validate_every = 2;
  std::vector<std::string> said;
  options.say = [&](const std::string& line) { said.push_back(line.substr(0, 13)); };
  REQUIRE(train_dl2(world, options).ok());
  CHECK(std::ranges::count(said, "after 2 runs:") == 1);
  CHECK(std::ranges::count(said, "after 3 runs:") == 1);
}

TEST_CASE("draws of training are none of the experiment, and a file has no others") {
  const Dl2World world = Dl2World::make(small()).value();
  CHECK(world.largest_seed() == 5);
  Dl2TrainingOptions options = short_training();
  options.first_seed = 5;
  CHECK(train_dl2(world, options).error().message.find("seeds up to 5") != std::string::npos);
  Experiment of_file = small();
  of_file.workloads.front().file = "jobs.csv";
  CHECK(Dl2World::make(of_file).error().message.find("is a file's") != std::string::npos);
}

TEST_CASE("jobs that leave nothing to choose are refused") {
  const auto rigid = Dl2World::make(small("generate: philly-like, jobs: 16"));
  REQUIRE(!rigid.ok());
  CHECK(rigid.error().message.find("no job of workload jobs may run with another number") == 0);
}

}  // namespace
}  // namespace starling
