// SPDX-License-Identifier: Apache-2.0
#include "policies/lif/lif.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "policies/builtin.h"
#include "policies/placement/placement_system.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "lif",
    .summary =
        "least interference first: the least slowdown, its own and its neighbours'; may "
        "wait for a better place",
    .family = Family::placement,
    .needs_running = true,
    .shares_gpus = true};

constexpr double kGoes = 3;  // above every place

/// In (0, 2), the larger the less the slowdown (in millionths); 1 where no job is slowed.
double score_of(std::int64_t slowdown) {
  const double s = static_cast<double>(slowdown) / static_cast<double>(kGpu);
  return s >= 0 ? 1 / (1 + s) : 2 - 1 / (1 - s);
}

}  // namespace

double least_gain(const DecisionPoint& point, double threshold) {
  return threshold * point.request.gpus * point.best_alone() * static_cast<double>(kGpu);
}

const Candidate* least_interference(const DecisionPoint& point, double gain) {
  const Candidate* best = nullptr;
  for (const PlacementOption& option : point.options) {
    if (option.kind != OptionKind::start) break;
    const Candidate* c = option.place;
    if (static_cast<double>(c->gain) >= gain && (best == nullptr || c->slowdown < best->slowdown))
      best = c;
  }
  return best;
}

LeastInterference look_for_least(const DecisionPoint& point, double threshold) {
  const bool picky = threshold > 0 && (point.busy() || point.out.any());
  LeastInterference found;
  found.gain = picky ? least_gain(point, threshold) : -std::numeric_limits<double>::infinity();
  found.here = least_interference(point, found.gain);
  found.there = point.better_elsewhere(
      threshold, found.here == nullptr ? std::nullopt : std::optional(found.here->slowdown));
  return found;
}

void score_by_least(const DecisionPoint& point, double threshold, const LeastInterference& found,
                    std::span<double> scores) {
  for (std::size_t i = 0; i < point.options.size(); ++i) {
    const PlacementOption& option = point.options[i];
    scores[i] = 0;
    if (option.kind == OptionKind::forward)
      scores[i] = option.destination == found.there ? kGoes : Scorer::kNever;
    if (option.kind != OptionKind::start) continue;
    const auto gain = static_cast<double>(option.place->gain);
    // A job that cannot wait takes the best of what there is.
    const bool good = gain >= found.gain || !point.may_wait();
    scores[i] = good ? score_of(option.place->slowdown)
                     : std::min(gain / std::max(found.gain / threshold, 1.0), 1.0) - 1;
  }
}

PlacementRules Lif::rules() const {
  PlacementRules rules;
  rules.minimum_gain = threshold_;
  return rules;
}

Scored Lif::score(const DecisionPoint& point, std::span<double> scores) {
  score_by_least(point, threshold_, look_for_least(point, threshold_), scores);
  return {};
}

std::string_view Lif::score_is() const {
  return threshold_ > 0
             ? "1 / (1 + slowdown of all), 1 where no job is slowed (0: wait; below 0: it "
               "would gain less speed than the threshold; 3: go)"
             : "1 / (1 + slowdown of all), 1 where no job is slowed (0: wait; 3: go)";
}

void add_lif(PolicyRegistry& registry) {
  registry.add_placement(kFacts, [](OptionReader& reader) -> Result<PlacementSystem> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    const double threshold = reader.number("threshold", 0, 0, 1, kThresholdHelp);
    const bool share = reader.choice("share", {"yes", "no"}, "no: one job per GPU") == "yes";
    const PlacementOrder order = read_placement_order(reader, PlacementOrder::arrival);
    PlacementSystem system{kFacts, options, order, std::make_unique<Lif>(threshold)};
    system.facts.shares_gpus = share;
    system.shares_gangs = read_shares_gangs(reader);
    read_may(reader, system);
    return system;
  });
}

}  // namespace starling
