// SPDX-License-Identifier: Apache-2.0
#include "gnn/registry.h"

#include <memory>
#include <utility>

#include "gnn/net_scorer.h"
#include "gnn/search/search_policy.h"
#include "policies/options.h"

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

/// `shipped`: of shipped_policy().
void add_learned(PolicyRegistry& registry, const PolicyFacts& facts, const char* shipped) {
  registry.add_placement(facts, [&facts, shipped](OptionReader& reader) -> Result<PlacementSystem> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    const std::string file =
        reader.file("weights", "a net's; without: the ones shipped with the program");
    constexpr const char* kAblation = "no: as if agents said nothing; for ablations";
    constexpr const char* kAlone = "no: as if jobs did not slow one another; for ablations";
    AblationMask mask;
    mask.digests = reader.choice("digests", {"yes", "no"}, kAblation) == "no";
    mask.interference = reader.choice("interference", {"yes", "no"}, kAlone) == "no";
    const std::string order = read_order(reader);
    auto net = read_policy_net(file, shipped);
    if (!net) return net.error();
    const PlacementOrder asked = order_asked(order, order_of(net.value()));
    return PlacementSystem{facts, options, asked,
                           std::make_unique<NetScorer>(std::move(net).value(), mask)};
  });
}

}  // namespace

void add_gnn_policies(PolicyRegistry& registry) {
  add_learned(registry, kMarl, "marl");
  add_learned(registry, kCentral, "marl");
  add_learned(registry, kHarmony, "harmony");
  add_marl_search(registry);
}

}  // namespace starling
