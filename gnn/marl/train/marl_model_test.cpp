// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/train/marl_model.h"

#include <cmath>

#include "base/rng.h"
#include "gnn/marl/fresh_net.h"
#include "gnn/marl/marl_scorer.h"
#include "gnn/train/test_checks.h"
#include "gnn/train/test_scenario.h"

namespace starling {
namespace {

Weights random_weights(bool encoder, bool data_center) {
  return shaken(fresh_marl({.encoder = encoder, .data_center = data_center}, 5));
}

/// Holds every decision of a run to libtorch, and the encoder to a fresh one.
class Compare final : public NetChooser {
 public:
  explicit Compare(const Weights& weights)
      : model_(MarlModel::from(weights).value()), net_(MarlNet::make(weights).value()) {}
  std::size_t choose(const DecisionPoint& point, std::span<const double> scores) override {
    SeenDecisions seen;
    seen.add(point, net());
    const std::uint32_t rows[] = {0};
    const torch::Tensor in_torch = model_->scores(seen, rows).detach().contiguous();
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const float other = in_torch.data_ptr<float>()[i];
      const auto ours = static_cast<float>(scores[i]);
      worst = std::max(worst, std::abs(ours - other) / std::max(1.0F, std::abs(other)));
    }
    if (const Encoder* encoder = static_cast<const MarlScorer&>(net()).encoder()) {
      Encoder fresh(net_.encoder());
      fresh.sync(point.view, point.candidates);
      CHECK(std::ranges::equal(fresh.partition(), encoder->partition()));
      CHECK(fresh.state().gpus == encoder->state().gpus);
      CHECK(fresh.state().servers == encoder->state().servers);
      computed = encoder->computed();
    }
    ++decisions;
    return static_cast<std::size_t>(decisions) % point.options.size();
  }
  float worst = 0;
  std::uint64_t decisions = 0, computed = 0;

 private:
  std::unique_ptr<PolicyModel> model_;
  MarlNet net_;
};

TEST_CASE("the agents' net and libtorch score alike, and following changes is a full pass") {
  const Scenario runs = small_scenario(1);
  for (const auto& [encoder, data_center] :
       {std::pair{true, true}, std::pair{true, false}, std::pair{false, true}}) {
    const Weights weights = random_weights(encoder, data_center);
    Compare compare(weights);
    const auto run = run_scenario(marl().system, runs, weights, [&](AgentId) { return &compare; });
    REQUIRE(run);
    CHECK(figures(run.value()).finished == runs.trace.jobs.size());
    CHECK(compare.decisions > 120);
    CHECK(compare.worst < 1e-5F);
    // A decision changes a server or a few, not all of them.
    if (encoder) CHECK(compare.computed < compare.decisions * 4);
  }
}

TEST_CASE("weights of another form make no model") {
  Weights weights = random_weights(true, true);
  weights.tensors.at("encoder.server.weight").shape[1] -= 1;
  weights.tensors.at("encoder.server.weight").values.resize(16 * 21);
  const auto model = MarlModel::from(weights);
  REQUIRE_FALSE(model);
  CHECK(model.error().message.find("encoder.server.weight") != std::string::npos);
}

}  // namespace
}  // namespace starling
