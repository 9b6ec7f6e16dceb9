// SPDX-License-Identifier: Apache-2.0
#include "gnn/learned_system.h"

#include <utility>

#include "gnn/shipped_weights.h"

namespace starling {
namespace {

Result<PlacementSystem> read_system(const LearnedSystem& system, OptionReader& reader) {
  const QueueOptions queue = read_queue_options(reader, QueueDefault::skip);
  const std::string file = reader.file(
      "weights", system.weights.empty() ? "a net's; none are shipped with the program"
                                        : "a net's; without: the ones shipped with the program");
  AblationMask mask;
  mask.digests = reader.choice("digests", {"yes", "no"},
                               "no: as if agents said nothing; for ablations") == "no";
  mask.interference =
      reader.choice("interference", {"yes", "no"},
                    "no: as if jobs did not slow one another; for ablations") == "no";
  const std::string order = read_order(reader);
  const bool shares_gangs = read_shares_gangs(reader);
  const MakeScorer make = system.scorers(reader);
  if (file.empty() && system.weights.empty()) {
    return Error{Errc::not_found, "policy '" + std::string(system.facts.name) +
                                      "': no weights are shipped for it; give weights=FILE"};
  }
  const auto weights = file.empty() ? shipped_weights(system.weights) : load_weights(file);
  if (!weights) return weights.error();
  auto scorer = make(weights.value());
  if (!scorer && !file.empty()) {
    return Error{Errc::invalid,
                 file + ": not the weights of a placement policy: " + scorer.error().message};
  }
  if (!scorer) return scorer.error();
  scorer.value()->hide(mask);
  const PlacementOrder asked = order_asked(order, scorer.value()->order());
  PlacementSystem made{system.facts, queue, asked, std::move(scorer).value()};
  made.shares_gangs = shares_gangs;
  return made;
}

}  // namespace

Result<std::unique_ptr<LearnedScorer>> make_scorer(const LearnedSystem& system,
                                                   const Weights& weights) {
  const PolicyOptions none;
  OptionReader reader(system.facts.name, none);
  return system.scorers(reader)(weights);
}

void add_learned(PolicyRegistry& registry, const LearnedSystem& system) {
  registry.add_placement(system.facts,
                         [system](OptionReader& reader) { return read_system(system, reader); });
}

std::string read_order(OptionReader& reader) {
  return reader.choice(
      "order", {"trained", "forecast", "arrival"},
      "which job is asked about first; trained: as the weights were, by forecast, or by "
      "arrival where they never wait; lif: by forecast");
}

PlacementOrder order_asked(std::string_view order, PlacementOrder trained) {
  if (order == "trained") return trained;
  return order == "forecast" ? PlacementOrder::forecast : PlacementOrder::arrival;
}

}  // namespace starling
