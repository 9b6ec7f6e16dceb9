// SPDX-License-Identifier: Apache-2.0
#include "python/environment/decision_run.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>

#include "base/rng.h"
#include "base/test_folder.h"
#include "gnn/marl/marl_net.h"
#include "launch/wiring/wiring.h"
#include "nets/weights.h"
#include "topology/generate/generate.h"
#include "workload/generate/generate.h"

namespace starling {
namespace {

struct Small {
  Topology topology = generate_leaf_spine({.servers = 8, .servers_per_rack = 4}).value();
  std::shared_ptr<const Trace> trace = std::make_shared<const Trace>(
      generate_trace(
          {.jobs = 150, .cluster_gpus = 64, .load = 1.4, .max_duration_s = 7200, .seed = 3})
          .value());
  SimOptions sim;

  explicit Small(std::uint32_t agents) {
    sim.agents = agents;
    sim.physics = PhysicsKind::full;
    sim.network = NetworkModel::lan();
    sim.durations.kind = DurationKnowledge::none;
  }
  [[nodiscard]] std::unique_ptr<DecisionRun> begin(const std::string& teacher = "") const {
    return DecisionRun::make(topology, trace, sim, simulated_policies(), teacher).value();
  }
};

/// Weights of the net that is a sum: of what options are worth to lif, about.
Weights weights_like_lif() {
  Weights weights;
  constexpr auto kOwn = static_cast<std::uint32_t>(Features::kOwn);
  constexpr auto kRow = static_cast<std::uint32_t>(Features::kRow);
  Tensor skip{{kOwn}, std::vector<float>(kOwn)};
  skip.values[index_of(Input::slowdown)] = -1;
  skip.values[index_of(Input::gain_lacking)] = -20;
  skip.values[index_of(Input::waits)] = -3;
  skip.values[index_of(Input::goes)] = -1;
  skip.values[index_of(Input::there_starts)] = 3;
  weights.tensors["skip"] = skip;
  weights.tensors["actor.0.weight"] = {{1, kRow}, std::vector<float>(kRow)};
  weights.tensors["actor.0.bias"] = {{1}, {0.0F}};
  return weights;
}

/// Answers every decision as `answer` says.
template <class Answer>
void play_out(DecisionRun& run, Answer answer) {
  for (;;) {
    const auto state = run.advance();
    REQUIRE_MESSAGE(state.ok(), (state.ok() ? "" : state.error().message));
    if (state.value() == DecisionRun::State::over) return;
    if (state.value() == DecisionRun::State::decision) run.answer(answer(run.open()));
  }
}

std::size_t by_net(MarlNet& net, const OpenDecision& open) {
  std::vector<float> scores(open.kinds.size());
  net.score(open.rows, scores);
  const std::vector<double> wide(scores.begin(), scores.end());
  return best_of(wide);
}

double jct_hours(const RunResult& run) {
  double sum = 0;
  for (const JobRow& job : run.jobs) sum += (job.finish_s - job.submit_s) / 3600;
  return sum;
}

TEST_CASE("a caller that answers as a net would gets the run of marl with its weights") {
  for (const std::uint32_t agents : {1U, 2U}) {
    Small small(agents);
    const TestFolder folder("env");
    const auto file = folder.path / "lif.weights";
    REQUIRE(save_weights(file, weights_like_lif()).ok());
    MarlNet net = MarlNet::make(weights_like_lif()).value();
    const auto run = small.begin();
    play_out(*run, [&](const OpenDecision& open) { return by_net(net, open); });
    SimOptions sim = small.sim;
    sim.policy = "marl:weights=" + file.string();
    const RunResult there =
        simulate(small.topology, *small.trace, simulated_policies(), sim).value();
    CHECK(run->decisions() > 100);
    CHECK(run->result().trace_hash == there.trace_hash);
    CHECK(run->job_hours() == doctest::Approx(jct_hours(there)).epsilon(1e-4));
  }
}

TEST_CASE("same answers, same run; other answers, another one") {
  const Small small(2);
  const auto hash = [&](std::uint64_t seed) {
    Rng rng(seed);
    const auto run = small.begin();
    play_out(*run, [&](const OpenDecision& open) {
      return rng.below(static_cast<std::uint32_t>(open.kinds.size()));
    });
    return run->result().trace_hash;
  };
  CHECK(hash(1) == hash(1));
  CHECK(hash(1) != hash(2));
}

TEST_CASE(
    "a run that is given up in its middle leaves nothing behind, and others go on beside it") {
  const Small small(1);
  std::vector<std::unique_ptr<DecisionRun>> all;
  for (std::size_t i = 0; i < 20; ++i) {
    auto& run = all.emplace_back(small.begin());
    for (std::size_t step = 0; step < i; ++step) {
      const auto state = run->advance();
      REQUIRE(state.ok());
      if (state.value() == DecisionRun::State::decision) run->answer(0);
    }
  }
}

TEST_CASE("a teacher says what it would do, and does not change the run") {
  const Small small(1);
  const auto with = small.begin("lif:threshold=0.3"), without = small.begin();
  std::size_t starts = 0;
  play_out(*with, [&](const OpenDecision& open) {
    REQUIRE(open.taught.has_value());
    starts += open.kinds[*open.taught] == OptionKind::start ? 1 : 0;
    return std::size_t{0};
  });
  play_out(*without, [](const OpenDecision& open) {
    CHECK(!open.taught.has_value());
    return std::size_t{0};
  });
  CHECK(starts > 50);
  CHECK(with->result().trace_hash == without->result().trace_hash);
  const auto wrong =
      DecisionRun::make(small.topology, small.trace, small.sim, simulated_policies(), "fifo");
  REQUIRE(!wrong.ok());
  CHECK(wrong.error().message.starts_with("teacher: "));
}

TEST_CASE("a fiber stops and goes on, and hands out what its body throws") {
  std::vector<int> order;
  Fiber* self = nullptr;
  Fiber fiber([&] {
    order.push_back(1);
    self->suspend();
    order.push_back(3);
    throw std::runtime_error("enough");
  });
  self = &fiber;
  CHECK(fiber.resume());
  order.push_back(2);
  CHECK_THROWS_WITH(fiber.resume(), "enough");
  CHECK(fiber.ended());
  CHECK(order == std::vector<int>{1, 2, 3});
}

}  // namespace
}  // namespace starling
