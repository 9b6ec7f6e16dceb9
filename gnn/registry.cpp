#include "gnn/registry.h"

#include <memory>
#include <utility>

#include "gnn/marl.h"
#include "gnn/search_policy.h"
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
  registry.add(
      facts,
      [&facts, shipped](const PolicyOptions& given) -> Result<std::unique_ptr<Policy>> {
        OptionReader reader(facts.name, given);
        const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
        const std::string file = reader.file("weights");
        Blinkers blinkers;
        blinkers.digests = reader.choice("digests", {"yes", "no"}) == "no";
        blinkers.interference = reader.choice("interference", {"yes", "no"}) == "no";
        const std::string order = reader.choice("order", {"trained", "forecast", "arrival"});
        if (const Status status = reader.status(); !status) return status.error();
        auto net = read_policy_net(file, shipped);
        if (!net) return net.error();
        const PlacementOrder asked = order_asked(order, order_of(net.value()));
        return std::unique_ptr<Policy>(
            std::make_unique<Marl>(facts, options, std::move(net).value(), asked, blinkers));
      },
      "queue=skip|strict, fit=node|count, weights=FILE (default: the ones shipped with the "
      "program), order=trained|forecast|arrival (who is asked about first; trained: as the weights "
      "were, by forecast, or by arrival where they never wait), "
      "digests=yes|no and interference=yes|no (no: as if agents said nothing, as if jobs did not "
      "slow one another; for ablations)");
}

}  // namespace

void add_gnn_policies(PolicyRegistry& registry) {
  add_learned(registry, kMarl, "marl");
  add_learned(registry, kCentral, "marl");
  add_learned(registry, kHarmony, "harmony");
  add_marl_search(registry);
}

}  // namespace starling
