// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "gnn/ablation_mask.h"
#include "gnn/encoder.h"
#include "gnn/features.h"
#include "gnn/policy_net.h"
#include "gnn/reasons.h"
#include "policies/placement/candidates_policy.h"

namespace starling {

/// One decision of a learned policy: a job, and what may be done with it.
struct Choice {
  const View& view;
  const Wish& wish;
  const JobView& job;
  Candidates& candidates;
  const RemainingTimes& remaining;
  const Encoder* encoder;  ///< null where the net has none
  /// Null: the job goes to one of `destinations`, in their order behind the places, or waits; that
  /// is the last one, if it may.
  std::span<const Candidate* const> options;
  std::span<const float> rows;  ///< [options, Features::kRow]
  std::span<const float> scores;
  std::span<const Destination> destinations = {};

  [[nodiscard]] std::size_t places() const;
  [[nodiscard]] bool may_wait() const { return options.size() > places() + destinations.size(); }
  /// Null: that option is none of going elsewhere.
  [[nodiscard]] const Destination* destination(std::size_t option) const;
};

/// Every place that Candidates has for the job, those on free GPUs first, each once.
void find_places(Candidates& candidates, const Wish& wish, std::vector<const Candidate*>& places);
/// The index of the largest, the first of equals.
[[nodiscard]] std::size_t best_of(std::span<const float> scores);
/// What `lif:threshold=T` does among the same options: the least slowdown among those that add T of
/// the job's best speed, another agent, or waiting. An index of choice.options.
[[nodiscard]] std::size_t thresholded_choice(const Choice& choice, double threshold);

/// Sees every decision and may make it: for training, and for search.
class Chooser {
 public:
  virtual ~Chooser() = default;
  /// Before the first decision of a call of decide().
  virtual void begin(const View&) {}
  /// The index of an option.
  [[nodiscard]] virtual std::size_t choose(const Choice& choice) = 0;
};

/// In which order a net was trained to be asked: one that never waits by arrival, as Harmony.
[[nodiscard]] inline PlacementOrder order_of(const PolicyNet& net) {
  return net.waits() ? PlacementOrder::forecast : PlacementOrder::arrival;
}

/// Reads order=; what it asks for is order_asked().
[[nodiscard]] std::string read_order(OptionReader& reader);
[[nodiscard]] inline PlacementOrder order_asked(std::string_view order, PlacementOrder trained) {
  if (order == "trained") return trained;
  return order == "forecast" ? PlacementOrder::forecast : PlacementOrder::arrival;
}

/// The learned policy. For every waiting job, those that are expected to take the least first, the
/// net scores the places of Candidates and waiting, and the best score wins; ties go to the first.
/// Where nobody runs there is no waiting. With neighbours each of Elsewhere's destinations is an
/// option too; the partition's embedding is its summary to them.
class Marl final : public PlacementPolicy {
 public:
  Marl(const PolicyFacts& facts, const QueueOptions& options, PolicyNet net, PlacementOrder order,
       const AblationMask& mask = {});
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  /// It outlives this. Null: the best score wins.
  void set_chooser(Chooser* chooser) noexcept { chooser_ = chooser; }
  [[nodiscard]] std::vector<Decision> decide(const View& given, const Trigger& trigger,
                                             Rng& rng) override;
  [[nodiscard]] std::span<const float> summary() const override;
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override {
    return reasons_.explain(job);
  }

 protected:
  void start_here(const View& view, Trial& trial, std::vector<Decision>& out) override;
  [[nodiscard]] Answer choose(const View& view, const Wish& wish, const JobView& job) override;
  void passed_over(const QueueEntry& entry) override;
  [[nodiscard]] std::optional<double> minimum_gain() const override {
    return net_.waits() ? std::optional(Features::kMinimumGain) : std::nullopt;
  }

 private:
  void find_options(const View& view, const Wish& wish);
  void fill_rows(const View& view, const Wish& wish, const JobView& job);
  void fill_forwards(const Wish& wish, const JobView& job, double best);
  void read_others(const View& view);
  void count_queue();
  [[nodiscard]] QueueView queue_of(const Wish& wish) const;

  PolicyFacts facts_;
  PolicyNet net_;
  AblationMask mask_;
  IsolatedSpeed isolated_;
  std::optional<Encoder> encoder_;
  Chooser* chooser_ = nullptr;
  Reasons reasons_;
  std::vector<const Candidate*> options_;
  std::vector<float> rows_, scores_, others_;
  std::vector<std::uint32_t> by_size_;  // waiting jobs whose gang has fewer than 2^(i+1) GPUs
  double waiting_gpus_ = 0, ahead_gpus_ = 0;
  std::size_t waiting_jobs_ = 0;
  std::size_t places_ = 0;  // of options_, the first ones
  bool synced_ = false;     // the encoder has seen the partition
};

}  // namespace starling
