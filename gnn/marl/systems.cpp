// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/systems.h"

#include <utility>

#include "gnn/marl/marl_scorer.h"

namespace starling {
namespace {

constexpr PolicyFacts kMarl{
    .name = "marl",
    .summary =
        "learned placement: a graph network over servers and data centre scores every place and "
        "waiting",
    .family = Family::placement,
    .needs_running = true,
    .shares_gpus = true,
    .needs_model_file = true};

constexpr PolicyFacts kCentral{
    .name = "marl-central",
    .summary = "marl with the weights of one agent for everything; run it with one agent",
    .family = Family::placement,
    .needs_running = true,
    .shares_gpus = true,
    .needs_model_file = true};

constexpr PolicyFacts kHarmony{
    .name = "harmony",
    .summary =
        "learned placement by one agent without a graph network, as Harmony: places whatever fits",
    .family = Family::placement,
    .needs_running = true,
    .shares_gpus = true,
    .needs_model_file = true};

MakeScorer scorers(OptionReader&) {
  return [](const Weights& weights) -> Result<std::unique_ptr<LearnedScorer>> {
    auto net = MarlNet::make(weights);
    if (!net) return net.error();
    return std::unique_ptr<LearnedScorer>(std::make_unique<MarlScorer>(std::move(net).value()));
  };
}

}  // namespace

std::vector<LearnedSystem> marl_systems() {
  return {{kMarl, "marl", scorers}, {kCentral, "marl", scorers}, {kHarmony, "harmony", scorers}};
}

}  // namespace starling
