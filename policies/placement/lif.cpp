// SPDX-License-Identifier: Apache-2.0
#include "policies/builtin.h"
#include "policies/placement/candidates_policy.h"

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

/// Of all candidates the one with the least slowdown, of the job and of those beside it. With a
/// threshold a place has to add that part of what the job does alone at its best, net of what the
/// others lose, weighted by GPUs; if none does, the job waits for as long as anything runs here.
class Lif final : public PlacementPolicy {
 public:
  Lif(const QueueOptions& options, double threshold, bool share, PlacementOrder order)
      : PlacementPolicy(options, false, order), facts_(kFacts), threshold_(threshold) {
    facts_.shares_gpus = share;
  }
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

 protected:
  [[nodiscard]] Answer choose(const View& view, const Wish& wish, const JobView&) override {
    const bool leaves = later_ || !destinations_.empty();
    const Candidate* best = find_best(wish, threshold_ > 0 && (busy(view) || leaves));
    const auto slowdown = best == nullptr ? std::nullopt : std::optional(best->slowdown);
    if (const Destination* there = better_elsewhere(wish, slowdown)) return Answer(there);
    if (best == nullptr && !busy(view) && !later_) best = find_best(wish, false);
    if (best == nullptr) return std::nullopt;
    return best->placement;
  }

  [[nodiscard]] std::optional<double> minimum_gain() const override { return threshold_; }

 private:
  [[nodiscard]] const Candidate* find_best(const Wish& wish, bool picky) {
    const double least = picky ? threshold_ * wish.gpus * best_alone(wish) : 0;
    const auto good = [&](const Candidate& c) {
      return !picky || static_cast<double>(c.gain) >= least * static_cast<double>(kGpu);
    };
    const Candidate* best = nullptr;
    const auto look_at = [&](const Candidates::Found& found) {
      for (const Candidate* c : found) {
        if (good(*c) && (best == nullptr || c->slowdown < best->slowdown)) best = c;
      }
    };
    look_at(candidates_.exclusive(wish));
    if (best == nullptr || best->slowdown > 0) look_at(candidates_.shared(wish));
    return best;
  }

  PolicyFacts facts_;
  double threshold_;
};

}  // namespace

void add_lif(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    const double threshold = reader.number("threshold", 0, 0, 1, kThresholdHelp);
    const bool share = reader.choice("share", {"yes", "no"}, "no: one job per GPU") == "yes";
    const PlacementOrder order = read_placement_order(reader, PlacementOrder::arrival);
    return std::unique_ptr<Policy>(std::make_unique<Lif>(options, threshold, share, order));
  });
}

}  // namespace starling
