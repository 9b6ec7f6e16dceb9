// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/evolve.h"

#include "base/test_folder.h"
#include "gnn/marl/features.h"
#include "gnn/marl/fresh_net.h"
#include "gnn/train/test_checks.h"
#include "gnn/train/test_scenario.h"

namespace starling {
namespace {

Weights start() { return fresh_marl({.encoder = false, .hidden = {4}}, 1); }

EvolveOptions small() {
  EvolveOptions options;
  options.generations = 3;
  options.pairs = 2;
  options.runs = 1;
  options.sigma = 0.5;
  return options;
}

TEST_CASE("an evolution that went on from its file is the one that never stopped") {
  const std::vector<Scenario> scenarios{small_scenario(1), small_scenario(2)};
  const std::vector<double> base{1000, 1000};
  const TestFolder folder("evolve");
  EvolveOptions options = small();
  options.average = 1;
  options.progress.file = folder.path / "progress.weights";
  options.progress.hash = "a";
  const std::uint64_t whole = evolve(marl(), start(), scenarios, base, options).value().hash();
  CHECK(whole != start().hash());

  options.progress.resume = true;
  std::uint32_t generations = 0;
  options.report = [&](std::uint32_t, double) { ++generations; };
  // It stops after the second generation, as the run does that is cut off there.
  {
    EvolveOptions cut = options;
    cut.progress.resume = false;
    std::filesystem::path kept = folder.path / "kept.weights";
    cut.report = [&](std::uint32_t generation, double) {
      if (generation == 1) std::filesystem::copy_file(options.progress.file, kept);
    };
    CHECK(evolve(marl(), start(), scenarios, base, cut).value().hash() == whole);
    std::filesystem::rename(kept, options.progress.file);
  }
  CHECK(evolve(marl(), start(), scenarios, base, options).value().hash() == whole);
  CHECK(generations == 1);

  options.progress.hash = "b";  // another training's
  CHECK(evolve(marl(), start(), scenarios, base, options).value().hash() == whole);
  CHECK(generations == 4);
}

TEST_CASE("the mean of the last generations, where it is asked for") {
  const std::vector<Scenario> scenarios{small_scenario(1), small_scenario(2)};
  const std::vector<double> base{1000, 1000};
  const TestFolder folder("evolve");
  EvolveOptions options = small();
  options.progress.file = folder.path / "progress.weights";
  std::vector<std::vector<float>> at;
  options.report = [&](std::uint32_t, double) {
    at.push_back(load_weights(options.progress.file).value().tensors.at("x").values);
  };
  options.average = 0.67;  // two of three
  const Weights mean = evolve(marl(), start(), scenarios, base, options).value();
  REQUIRE(at.size() == 3);
  const auto& values = mean.tensors.at("skip").values;
  REQUIRE(values.size() == at[0].size());
  std::size_t differ = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(values[i] == doctest::Approx((at[1][i] + at[2][i]) / 2));
    if (values[i] != at[2][i]) ++differ;
  }
  CHECK(differ > 0);
}

TEST_CASE("skip.forward changes what is told of going to other agents, and nothing else") {
  Scenario scenario = small_scenario(1);
  scenario.agents = 3;
  EvolveOptions options = small();
  options.tensors = {"skip.forward"};
  const Weights before = start();
  const Weights after =
      evolve(marl(), before, {&scenario, 1}, std::vector<double>{1000}, options).value();
  Weights back = after;
  auto& skip = back.tensors.at("skip").values;
  std::size_t changed = 0;
  for (std::size_t i = 0; i < Features::kForward; ++i) {
    const std::size_t k = Features::kForwardAt + i;
    if (skip[k] != before.tensors.at("skip").values[k]) ++changed;
    skip[k] = before.tensors.at("skip").values[k];
  }
  CHECK(changed == Features::kForward);
  CHECK(back.hash() == before.hash());
}

TEST_CASE("runs of one agent change nothing of what is told of others") {
  const Scenario scenario = small_scenario(1);
  EvolveOptions nothing = small();
  nothing.tensors = {"skip.forward"};
  const auto refused = evolve(marl(), start(), {&scenario, 1}, std::vector<double>{1000}, nothing);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("no run has several") != std::string::npos);
  const auto values = [](const Weights& weights) { return weights.tensors.at("skip").values; };
  const auto before = values(start());
  const auto after =
      values(evolve(marl(), start(), {&scenario, 1}, std::vector<double>{1000}, small()).value());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool forward = i >= Features::kForwardAt && i < Features::kForwardAt + Features::kForward;
    CHECK((before[i] == after[i]) == forward);
  }
}

}  // namespace
}  // namespace starling
