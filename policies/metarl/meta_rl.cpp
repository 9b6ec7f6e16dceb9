// SPDX-License-Identifier: Apache-2.0
#include "policies/metarl/meta_rl.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "policies/builtin.h"
#include "policies/lif/lif.h"
#include "policies/placement/placement_system.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "meta-rl",
    .summary =
        "least interference first by a model that adapts, and within a budget where that is "
        "unsure (our reading of an abstract)",
    .family = Family::placement,
    .needs_running = true,
    .shares_gpus = true};

constexpr double kExplored = 2.5;  // above every place as believed, below going elsewhere

std::int64_t millionths(double x) { return std::llround(x * static_cast<double>(kGpu)); }

}  // namespace

PlacementRules MetaRl::rules() const {
  PlacementRules rules;
  rules.minimum_gain = options_.threshold;
  rules.forecasts = true;
  return rules;
}

View MetaRl::seen(const View& given) {
  if (budget_.any_runs()) {
    std::set<std::uint64_t> orders;
    for (const JobView& job : given.running) orders.insert(job.order);
    budget_.keep_running([&](std::uint64_t order) { return orders.contains(order); });
  }
  budget_.pass(given.now,
               static_cast<std::uint32_t>(given.gpus.free_count() + given.gpus.busy_count()));
  return given;
}

double MetaRl::bonus_of(const DecisionPoint& point, const Candidate& place) const {
  std::uint32_t explored = 0;
  const std::string& own = point.candidates.residents().profile(point.request.profile).model;
  const std::uint16_t type = point.view.topology.type_of(place.placement.front()).value;
  for (const Candidate::Loss& loss : place.losses) {
    if (!loss.shares) continue;
    const std::string& other = point.candidates.residents().at(loss.slot).self.job.model;
    explored = std::max(explored, budget_.explored(explored_pair(own, other, type)));
  }
  return options_.bonus / std::sqrt(1.0 + explored);
}

MetaRl::Worth MetaRl::hoped(const DecisionPoint& point, const Candidate& place) const {
  if (!place.shares()) return {place.gain, place.slowdown};
  const double bonus = bonus_of(point, place);
  const double own =
      std::min(place.own + bonus * place.unsure, std::max(place.unshared, place.own));
  double gain = point.request.gpus * own;
  double slowdown = 1 / own - 1;
  for (const Candidate::Loss& loss : place.losses) {
    const double after =
        loss.shares ? std::min(loss.after + bonus * loss.unsure, std::max(loss.before, loss.after))
                    : loss.after;
    gain -= loss.gpus * (loss.before - after);
    slowdown += 1 / after - 1 / loss.before;
  }
  return {millionths(gain), millionths(slowdown)};
}

double MetaRl::cost_of(const DecisionPoint& point, const Candidate& place) const {
  return point.request.gpus * point.remaining.left(point.job, point.view.now) / place.own;
}

const Candidate* MetaRl::worth_exploring(const DecisionPoint& point, double least,
                                         const Candidate* believed) const {
  if (options_.bonus <= 0 || budget_.left() <= 0) return nullptr;
  const Candidate* best = nullptr;
  std::int64_t slowdown =
      believed != nullptr ? believed->slowdown : std::numeric_limits<std::int64_t>::max();
  for (const PlacementOption& option : point.options) {
    if (option.kind != OptionKind::start) break;
    const Candidate& place = *option.place;
    if (&place == believed || !place.shares() || place.gain <= 0) continue;
    const Worth worth = hoped(point, place);
    if (static_cast<double>(worth.gain) < least || worth.slowdown >= slowdown) continue;
    if (cost_of(point, place) > budget_.left()) continue;
    best = &place;
    slowdown = worth.slowdown;
  }
  return best;
}

std::uint64_t MetaRl::pair_of(const DecisionPoint& point, const Candidate& place) {
  const std::string& own = point.candidates.residents().profile(point.request.profile).model;
  const std::uint16_t type = point.view.topology.type_of(place.placement.front()).value;
  const auto other = std::ranges::find_if(place.losses, &Candidate::Loss::shares);
  if (other == place.losses.end()) return 0;
  return explored_pair(own, point.candidates.residents().at(other->slot).self.job.model, type);
}

Scored MetaRl::score(const DecisionPoint& point, std::span<double> scores) {
  const LeastInterference found = look_for_least(point, options_.threshold);
  const Candidate* explored =
      found.there == nullptr ? worth_exploring(point, found.gain, found.here) : nullptr;
  score_by_least(point, options_.threshold, found, scores);
  if (explored == nullptr) return {};
  const auto option = static_cast<std::size_t>(
      std::ranges::find(point.options, explored, &PlacementOption::place) - point.options.begin());
  scores[option] = kExplored;
  return {option,
          "explores: taken because the model is unsure of this place, not for the speeds that it "
          "believes"};
}

void MetaRl::took(const DecisionPoint& point, const Scored& scored, const Placement& placement) {
  if (!scored.explores) return;
  const Candidate& explored = *point.options[*scored.explores].place;
  if (placement != explored.placement) return;
  budget_.begin(point.job.order, point.request.gpus, cost_of(point, explored),
                pair_of(point, explored));
}

std::string_view MetaRl::score_is() const {
  return options_.threshold > 0
             ? "1 / (1 + slowdown of all), 1 where no job is slowed (0: wait; below 0: it would "
               "gain less speed than the threshold; 2.5: explore; 3: go)"
             : "1 / (1 + slowdown of all), 1 where no job is slowed (0: wait; 2.5: explore; 3: go)";
}

void add_meta_rl(PolicyRegistry& registry) {
  registry.add_placement(kFacts, [](OptionReader& reader) -> Result<PlacementSystem> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    MetaRlOptions meta;
    meta.threshold = reader.number("threshold", meta.threshold, 0, 1, kThresholdHelp);
    meta.bonus = reader.number("bonus", meta.bonus, 0, 10,
                               "deviations by which speeds may be better than believed where it "
                               "explores; 0: it never does");
    meta.budget = reader.number("budget", meta.budget, 0, 1,
                                "part of a partition's GPU time that explored placements may take");
    const PlacementOrder order = read_placement_order(reader, PlacementOrder::forecast);
    PlacementSystem system{kFacts, options, order, std::make_unique<MetaRl>(meta)};
    system.shares_gangs = read_shares_gangs(reader);
    return system;
  });
}

}  // namespace starling
