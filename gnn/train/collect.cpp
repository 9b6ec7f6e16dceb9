// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/collect.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "gnn/search/rollout.h"
#include "gnn/search/true_future.h"
#include "gnn/wiring/registry.h"

namespace starling {
namespace {

Result<PlacementSystem> teacher_of(const std::string& policy) {
  PolicyRegistry registry = make_policy_registry();
  add_gnn_policies(registry);
  auto system = registry.make_placement(policy);
  if (system && system.value().scorer->rules().own_places) {
    return Error{Errc::invalid, "policy '" + std::string(system.value().facts.name) +
                                    "' lists places of its own, so it cannot judge a net's; "
                                    "imitate lif or smart-greedy, for example"};
  }
  return system;
}

class Teacher final : public NetChooser {
 public:
  Teacher(const ImitateOptions& options, const std::string& teacher)
      : options_(options), rng_(options.seed, 0x7ea), scorer_(teacher_of(teacher).value().scorer) {}
  void begin(const DecisionContext& context) override { scorer_->begin(context); }
  void passed_over(const QueueEntry& entry) override { scorer_->passed_over(entry); }
  std::size_t choose(const DecisionPoint& point, std::span<const double> scores) override {
    scores_.assign(point.options.size(), 0);
    scorer_->score(point, scores_);
    const std::size_t right = best_of(scores_);
    if (point.options.size() > 1 && rng_.chance(options_.keep)) {
      SeenDecision& seen = seen_.add(point, net());
      seen.chosen = static_cast<std::uint32_t>(right);
      seen.target.assign(point.options.size(), 0);
      seen.target[right] = 1;
    }
    return rng_.chance(options_.follow) ? right : best_of(scores);
  }
  SeenDecisions seen_;

 private:
  ImitateOptions options_;
  Rng rng_;
  std::unique_ptr<Scorer> scorer_;
  std::vector<double> scores_;
};

/// Asks the roll-out simulator.
class Expert final : public NetChooser {
 public:
  Expert(const Scenario& scenario, const ExpertOptions& options)
      : future_(scenario.trace), options_(options), rng_(options.seed, 0xe8) {}
  void begin(const DecisionContext&) override { before_.clear(); }
  std::size_t choose(const DecisionPoint& point, std::span<const double> scores) override {
    std::size_t taken = best_of(scores);
    if (point.options.size() > 1 && rng_.chance(options_.explore)) taken = any_of_best(scores);
    if (point.options.size() > 1 && seen_.all.size() < options_.limit &&
        rng_.chance(options_.sample))
      ask(point, scores);
    before_.push_back(first_decision(point, taken));
    return taken;
  }
  SeenDecisions seen_;

 private:
  std::size_t any_of_best(std::span<const double> scores) {
    const std::vector<std::size_t> order = by_score(scores);
    return order[rng_.below(static_cast<std::uint32_t>(std::min<std::size_t>(3, order.size())))];
  }
  static std::vector<std::size_t> by_score(std::span<const double> scores) {
    std::vector<std::size_t> order(scores.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    return order;
  }
  void ask(const DecisionPoint& point, std::span<const double> scores) {
    const RolloutStart start(point.view, future_.at(point, options_.arrivals));
    std::vector<std::size_t> order = by_score(scores);
    // The best few by the net, and waiting in any case.
    const std::size_t wait = point.options.size() - 1;
    if (order.size() > options_.options) {
      const bool waits = std::find(order.begin(), order.begin() + options_.options, wait) !=
                         order.begin() + options_.options;
      order.resize(options_.options);
      if (!waits && point.may_wait()) order.back() = wait;
    }
    std::vector<double> costs(point.options.size(), std::numeric_limits<double>::infinity());
    double least = std::numeric_limits<double>::infinity(), most = 0;
    std::vector<FirstDecision> first = before_;
    first.emplace_back();
    RolloutLimits limits;
    if (options_.horizon_h > 0) limits.horizon = from_seconds(options_.horizon_h * 3600);
    for (const std::size_t i : order) {
      first.back() = first_decision(point, i);
      const auto policy = options_.policy();
      costs[i] = rollout_.run(start, first, *policy, limits).cost_s / 3600;
      if (!std::isfinite(costs[i])) continue;
      least = std::min(least, costs[i]);
      most = std::max(most, costs[i]);
    }
    if (!std::isfinite(least)) return;
    SeenDecision& seen = seen_.add(point, net());
    seen.chosen = static_cast<std::uint32_t>(best_of(scores));
    for (const double cost : costs)
      seen.target.push_back(static_cast<float>(std::isfinite(cost) ? cost - least : -1));
  }

  TrueFuture future_;
  const ExpertOptions& options_;
  Rng rng_;
  std::vector<FirstDecision> before_;
  Rollout rollout_;
};

/// What the agents of one run saw, each through a Watcher of its own.
template <class Watcher, class... Arguments>
Result<SeenDecisions> watch(const TrainableSystem& system, const Scenario& scenario,
                            const Weights& weights, const Arguments&... arguments) {
  std::vector<std::unique_ptr<Watcher>> agents;
  for (std::uint32_t i = 0; i < scenario.agents; ++i)
    agents.push_back(std::make_unique<Watcher>(arguments...));
  const auto run = run_scenario(system.system, scenario, weights,
                                [&](AgentId agent) { return agents[agent.value].get(); });
  if (!run) return run.error();
  SeenDecisions all;
  for (const auto& agent : agents) all.append(std::move(agent->seen_));
  return all;
}

}  // namespace

Status check_teacher(const std::string& policy) {
  const auto system = teacher_of(policy);
  if (!system) return system.error();
  return done();
}

Result<SeenDecisions> collect_teacher(const TrainableSystem& system, const Scenario& scenario,
                                      const Weights& weights, const ImitateOptions& options) {
  const std::string& teacher = options.teacher.empty() ? system.training.teacher : options.teacher;
  if (Status known = check_teacher(teacher); !known) return known.error();
  return watch<Teacher>(system, scenario, weights, options, teacher);
}

Result<SeenDecisions> collect_expert(const TrainableSystem& system, const Scenario& scenario,
                                     const Weights& weights, const ExpertOptions& options) {
  return watch<Expert>(system, scenario, weights, scenario, options);
}

}  // namespace starling
