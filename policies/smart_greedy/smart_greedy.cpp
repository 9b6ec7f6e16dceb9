// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "policies/builtin.h"
#include "policies/lif/lif.h"
#include "policies/placement/placement_system.h"
#include "policies/smart_greedy/free_times.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "smart-greedy",
    .summary =
        "the least time, its own until it ends and what it adds to its neighbours'; waits "
        "if that is cheaper",
    .family = Family::placement,
    .needs_running = true,
    .shares_gpus = true};

/// Of all candidates the one that costs the least time in all: what the job takes there, and what
/// it adds to those beside it for as long as both run. If the guessed wait for free GPUs of the
/// best kind, behind those ahead in the queue, and the time on them come to less, it waits. Scores
/// are those seconds, negative.
class SmartGreedy final : public Scorer {
 public:
  SmartGreedy(bool may_wait, double threshold) : may_wait_(may_wait), threshold_(threshold) {}

  [[nodiscard]] PlacementRules rules() const override {
    PlacementRules rules;
    rules.forecasts = true;
    rules.minimum_gain = threshold_;
    return rules;
  }

  void begin(const DecisionContext& context) override {
    times_.begin(context);
    waits_for_.assign(context.queue.looks(), kNowhere);
  }

  Scored score(const DecisionPoint& point, std::span<double> scores) override {
    const bool picky = point.busy() || point.out.later;
    const double work = point.remaining.left(point.job, point.view.now);
    const double least = picky && threshold_ > 0 ? least_gain(point, threshold_) : -kForever;
    Cost start{kForever, nullptr};
    for (std::size_t i = 0; i < point.starts(); ++i) {
      const Candidate* c = point.options[i].place;
      scores[i] = kNever;
      if (static_cast<double>(c->gain) < least) continue;
      const double cost = time_of(point, *c, work);
      scores[i] = -cost;
      if (cost < start.seconds) start = {cost, c};
    }
    const Destination* there = point.better_elsewhere(
        threshold_, start.where == nullptr ? std::nullopt : std::optional(start.where->slowdown));
    for (std::size_t i = point.starts(); i < point.options.size(); ++i)
      scores[i] =
          point.options[i].kind == OptionKind::forward && point.options[i].destination == there
              ? kGoes
              : kNever;
    if (!point.may_wait()) return {};
    scores.back() = kLast;
    if (there != nullptr || (start.where != nullptr && (!picky || !may_wait_))) return {};
    const Wait wait = best_wait(point, start, work);
    if (wait.seconds < kForever) scores.back() = -wait.seconds;
    if (start.where == nullptr || start.seconds > wait.seconds)
      waits_for_[point.request.look] = wait.kind;
    return {};
  }

  [[nodiscard]] std::string_view score_is() const override {
    return "minus the seconds until it has ended and that others end later (+1: go)";
  }

  [[nodiscard]] bool alike(const JobView& job) const override {
    return job.spec->duration <= Duration::zero();
  }
  void passed_over(const QueueEntry& entry) override {
    if (const std::uint32_t kind = waits_for_[entry.look]; kind != kNowhere) {
      times_.promise(kind, entry.gpus);
    }
  }

 private:
  static constexpr double kForever = std::numeric_limits<double>::infinity();
  static constexpr std::uint32_t kNowhere = ~0U;
  static constexpr double kGoes = 1;  // above every place
  struct Cost {
    double seconds = 0;
    const Candidate* where = nullptr;
  };
  struct Wait {
    double seconds = kForever;  // until it has ended
    std::uint32_t kind = kNowhere;
  };

  /// For free GPUs of the kind on which it would end first.
  [[nodiscard]] Wait best_wait(const DecisionPoint& point, const Cost& start, double work) {
    Wait best;
    for (const std::uint32_t k : point.candidates.kinds(*point.request.spec)) {
      const double speed = point.candidates.alone(point.request, point.empty, k);
      if (speed <= 0) continue;
      // Where it could start alone at once there is nothing to wait for.
      if (start.where != nullptr && start.seconds <= work / speed) continue;
      const double all = times_.wait(point, k, point.request) + work / speed;
      if (best.kind == kNowhere || all < best.seconds) best = {all, k};
    }
    return best;
  }

  [[nodiscard]] static double time_of(const DecisionPoint& point, const Candidate& candidate,
                                      double work) {
    const auto left = [&](const Candidate::Loss& loss) {
      return point.remaining.left(point.candidates.residents().at(loss.slot), point.view.now) /
             loss.after;
    };
    double together = 0;  // seconds until the last of those on its GPUs has ended
    for (const Candidate::Loss& loss : candidate.losses) {
      if (loss.shares) together = std::max(together, left(loss));
    }
    double own = work / candidate.own;
    if (own > together) own = together + (work - together * candidate.own) / candidate.unshared;
    double added = 0;
    for (const Candidate::Loss& loss : candidate.losses)
      added += std::min(own, left(loss)) * (1 - loss.after / loss.before);
    return own + added;
  }

  bool may_wait_;
  double threshold_;
  FreeTimes times_;
  std::vector<std::uint32_t> waits_for_;  // kinds, by look
};

}  // namespace

void add_smart_greedy(PolicyRegistry& registry) {
  registry.add_placement(kFacts, [](OptionReader& reader) -> Result<PlacementSystem> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    const bool wait =
        reader.choice("wait", {"yes", "no"}, "no: a job never waits though there is room") == "yes";
    const double threshold = reader.number("threshold", 0, 0, 1, kThresholdHelp);
    const PlacementOrder order = read_placement_order(reader, PlacementOrder::arrival);
    PlacementSystem system{kFacts, options, order, std::make_unique<SmartGreedy>(wait, threshold)};
    read_may(reader, system);
    return system;
  });
}

}  // namespace starling
