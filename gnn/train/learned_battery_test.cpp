// SPDX-License-Identifier: Apache-2.0
// What every learned system must hold: those of the program, and the examples.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/rng.h"
#include "base/test_folder.h"
#include "gnn/search/search_policy.h"
#include "gnn/train/collect.h"
#include "gnn/train/evolve.h"
#include "gnn/train/policy_model.h"
#include "gnn/train/test_checks.h"
#include "gnn/train/test_scenario.h"
#include "policies/testing/battery.h"

namespace starling {

std::vector<LearnedSystem> example_systems();
std::vector<TrainableSystem> example_trainable();

namespace {

std::vector<TrainableSystem> every_system() {
  std::vector<TrainableSystem> all = trainable_systems();
  std::ranges::move(example_trainable(), std::back_inserter(all));
  return all;
}

/// What the policy says of a job that could have started.
std::vector<std::string> reasons(Policy& policy) {
  const Topology topology = generate_flat({.servers = 2, .gpus_per_server = 4}).value();
  const CrowdedSpeed speed(topology);
  Occupancy gpus(topology, {0, 2}, 2);
  const Trace trace = battery_trace(Rng(4), 2, topology);
  std::vector<JobView> waiting(1), running(1);
  JobSpec waits = trace.jobs[0].spec, runs = trace.jobs[1].spec;
  waits.workers = runs.workers = waits.gpus_per_worker = runs.gpus_per_worker = 1;
  waits.gpu_types = runs.gpu_types = {};
  waiting[0].spec = &waits;
  waiting[0].order = 2;
  running[0].spec = &runs;
  running[0].order = 1;
  running[0].placement = {GpuId{0}};
  gpus.take(running[0].placement);
  const View view{topology, gpus, waiting, running, {}, speed, Instant{}, AgentId{0}};
  Rng rng(1);
  (void)policy.decide(view, {}, rng);
  return policy.explain(waits.id);
}

/// Holds what is observed of every decision of a run to what was scored.
class Compare final : public NetChooser {
 public:
  explicit Compare(const PolicyModel& model) : model_(model) {}
  std::size_t choose(const DecisionPoint& point, std::span<const double> scores) override {
    SeenDecisions seen;
    seen.add(point, net());
    const std::uint32_t rows[] = {0};
    const torch::Tensor in_torch = model_.scores(seen, rows).detach().contiguous();
    REQUIRE(in_torch.numel() == static_cast<std::int64_t>(scores.size()));
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double other = in_torch.data_ptr<float>()[i];
      worst = std::max(worst, std::abs(scores[i] - other) / std::max(1.0, std::abs(other)));
    }
    std::vector<float> state(net().state_size());
    net().state(state);
    finite = finite && std::ranges::all_of(state, [](float x) { return std::isfinite(x); });
    return static_cast<std::size_t>(++decisions) % point.options.size();
  }
  double worst = 0;
  bool finite = true;
  std::uint64_t decisions = 0;

 private:
  const PolicyModel& model_;
};

TEST_CASE("what a learned system observed is what its net in training makes the same scores of") {
  for (const TrainableSystem& system : every_system()) {
    CAPTURE(system.name());
    const Weights weights = shaken(system.fresh(5));
    const auto model = system.training.model(weights).value();
    Scenario scenario = small_scenario(1);
    scenario.agents = 2;
    std::map<AgentId, Compare> compare;
    const auto run = run_scenario(system.system, scenario, weights, [&](AgentId agent) {
      return &compare.try_emplace(agent, *model).first->second;
    });
    REQUIRE(run);
    CHECK(figures(run.value()).finished == scenario.trace.jobs.size());
    CHECK(compare.size() == 2);
    for (const auto& [agent, seen] : compare) {
      CHECK(seen.decisions > 30);
      CHECK(seen.worst < 1e-5);
      CHECK(seen.finite);
    }
  }
}

TEST_CASE("a learned system's training begins with weights of its own, and keeps them all") {
  for (const TrainableSystem& system : every_system()) {
    CAPTURE(system.name());
    const Weights weights = system.fresh(1);
    CHECK(weights.hash() == system.fresh(1).hash());
    CHECK(system.training.model(weights).value()->weights().hash() == weights.hash());
    CHECK(check_teacher(system.training.teacher).ok());
    REQUIRE_FALSE(system.training.evolved.empty());
    for (const std::string& name : system.training.evolved)
      CHECK(check_tensor(system.training, weights, name).ok());
    for (const TensorPart& part : system.training.parts)
      CHECK(weights.tensors.at(part.tensor).values.size() >= part.first + part.size);
    Weights empty = weights;
    empty.tensors.clear();
    CHECK_FALSE(system.training.model(empty));
    CHECK_FALSE(make_scorer(system.system, empty));
  }
}

TEST_CASE("a learned system is a policy, with weights shipped or not, and says why") {
  PolicyRegistry registry = make_policy_registry();
  for (const LearnedSystem& system : learned_systems()) add_learned(registry, system);
  for (const LearnedSystem& system : example_systems()) add_learned(registry, system);
  add_marl_search(registry);
  const TestFolder folder("battery");
  for (const TrainableSystem& system : every_system()) {
    CAPTURE(system.name());
    const std::filesystem::path file = folder.path / (system.name() + ".weights");
    // Random ones may let a job wait for ever.
    REQUIRE(save_weights(file, system.fresh(5)).ok());
    const auto shipped = registry.make(system.name());
    CHECK(shipped.ok() == !system.system.weights.empty());
    if (!shipped) CHECK(shipped.error().message.find("give weights=FILE") != std::string::npos);
    const std::string text = system.name() + ":weights=" + file.string();
    run_policy_battery(registry, text, true);
    // A line for the decision, and at least those of starting and of waiting.
    CHECK(reasons(*registry.make(text).value()).size() >= 3);
    run_explain_battery(registry, text);
    const std::string search = "marl-search:base=" + system.name() + ",weights=" + file.string();
    CHECK(registry.make(search).ok());
    run_explain_battery(registry, search);
  }
}

}  // namespace
}  // namespace starling
