// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gnn/quick_lif.h"
#include "gnn/search/rollout.h"
#include "gnn/search/sampled_future.h"
#include "gnn/search/true_future.h"
#include "policies/placement/chooser.h"

namespace starling {

struct SearchOptions {
  std::uint32_t samples = 12;  ///< futures
  /// Options played out: the base's choice, then waiting, then the best others, of those within
  /// `margin`.
  std::uint32_t candidates = 3;
  /// Starts, ends and arrivals that all roll-outs of one decision may take; what is known then
  /// decides. Counted, not timed, so that runs repeat.
  std::uint64_t events = 40'000;
  Duration horizon = std::chrono::hours(4);  ///< in which jobs come; then everything is drained
  std::uint32_t arrivals = 64;               ///< of a future, at most
  PlacementOrder order = PlacementOrder::arrival;  ///< of the base, and so of roll-outs
  /// Options whose scores are further below the base's are not played: the base is sure of itself.
  double margin = std::numeric_limits<double>::infinity();
  double errors = 1;  ///< standard errors by which a gain must differ from nothing
  /// A job whose best alternative was played out and refused is not searched for again so soon.
  Duration again = std::chrono::hours(1);
};

/// Makes decisions by playing the best few options forward over several guessed futures, the same
/// for all options, under QuickLif. Leaves the base's choice, which is the option with the best
/// score, only for one whose mean gain over it exceeds `errors` standard errors; an option that
/// falls behind by as much is dropped early. Where there is nothing to weigh, or no past to guess
/// from, the base decides; so it does where it gives a job to another partition: the search gives
/// none away, and keeps none. Deterministic. Serves one partition.
class SearchChooser final : public Chooser {
 public:
  explicit SearchChooser(const SearchOptions& options) : options_(options) {}
  /// From now on the future is no guess: one roll-out of each option at the world's own speeds,
  /// and the cheapest is taken. The oracle outlives this.
  void foresee(const Oracle& oracle);
  void begin(const DecisionContext& context) override;
  [[nodiscard]] std::size_t choose(const DecisionPoint& point,
                                   std::span<const double> scores) override;

  struct Counts {
    std::uint64_t decisions = 0, searches = 0, changed = 0, rollouts = 0, events = 0;
  };
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  struct Gain {
    double mean = 0, error = 0;  // standard
  };
  struct Option {
    std::size_t index = 0;  // of the point's options
    bool alive = true;
    double sum = 0, squares = 0;  // of gains over the base
    [[nodiscard]] Gain gain(std::uint32_t samples) const;
  };
  struct Refused {
    Placement best;
    Instant at;
  };
  [[nodiscard]] bool worth_it(const DecisionPoint& point, std::size_t base) const;
  void shortlist(const DecisionPoint& point, std::span<const double> scores, std::size_t base);
  /// Among the base's option and those that are listed.
  [[nodiscard]] std::size_t search(const DecisionPoint& point, std::size_t base);
  [[nodiscard]] double cost(const DecisionPoint& point, std::size_t index,
                            const RolloutStart& start);
  /// Tells roll-outs what the base expects of how long jobs take.
  void expect(const DecisionPoint& point, RolloutFuture& future);
  const RolloutStart& start_of(const DecisionPoint& point, std::size_t sample);
  void forget_gone(const View& view);

  SearchOptions options_;
  FutureSampler sampler_;
  const Oracle* oracle_ = nullptr;  // null: the future is guessed
  std::optional<TrueFuture> known_;
  std::unique_ptr<SpeedModel> true_speed_;
  std::optional<SpeedMemo> true_memo_;
  Rollout rollout_;
  std::optional<SpeedMemo> memo_;
  std::optional<PairSpeeds> pairs_;
  const SpeedModel* asked_ = nullptr;
  Instant memo_since_;
  std::vector<std::unique_ptr<RolloutStart>> starts_;  // of this call, by sample
  std::vector<double> expected_s_;                     // of View::waiting; empty: not asked yet
  std::vector<FirstDecision> made_;                    // in this call; the last is the one at hand
  std::vector<Option> listed_;
  std::map<std::uint64_t, Refused> refused_;  // by order
  std::uint64_t calls_ = 0;
  Counts counts_;
};

}  // namespace starling
