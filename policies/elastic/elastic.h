// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "policies/elastic/division.h"
#include "policies/elastic/elastic_progress.h"
#include "policies/elastic/over_partitions.h"
#include "policies/options.h"
#include "policies/partitions/price_routing.h"
#include "policies/queues/rounds.h"
#include "scheduling/feedback.h"

namespace starling {

/// Options that every elastic policy takes; rounds are of `round_s` unless given.
struct ElasticOptions {
  Duration round{0};
  bool between = true;
  bool grows = false;  ///< over partitions (OverPartitions)
};
[[nodiscard]] ElasticOptions read_elastic(OptionReader& reader, double round_s = 600);
/// ElasticOptions::grows, which is `otherwise` unless the options say it.
[[nodiscard]] bool read_grows(OptionReader& reader, bool otherwise);

/// A policy that gives every job a number of workers, anew at each round, as its Division says.
/// Jobs that are not elastic have all their workers or none.
///
/// A round divides everything. Workers that find no place are not held for their job: it gets as
/// many as there is room for, and the others go to the next job. With `between`, which no paper
/// has, what is free is also divided as soon as a job arrives or ends: to those who wait, or else
/// to those who run, if they gain more by it than a restart costs. No job gets less for that. What
/// becomes of GPUs in other partitions is OverPartitions'.
class ElasticPolicy final : public Policy {
 public:
  /// `facts.round` is that of the options.
  ElasticPolicy(PolicyFacts facts, const ElasticOptions& options,
                std::unique_ptr<Division> division);
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;
  void refused(const Feedback& feedback) override { over_.refused(feedback.job()); }
  [[nodiscard]] std::span<const TypePrice> prices() const override { return routing_.prices(); }
  /// How much of each job is done, when the round began, and what its Division has learned.
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override;
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override;
  [[nodiscard]] std::uint64_t learned() const noexcept override {
    return progress_.version() + rounds_.begun() + division_->learned();
  }
  void learn() override { division_->learn(); }
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override {
    std::vector<std::string> lines = division_->explain(job);
    for (std::string& line : over_.explain(job)) lines.push_back(std::move(line));
    return lines;
  }
  [[nodiscard]] std::vector<std::string> explain_now(const View& view,
                                                     const JobView& job) const override;

 private:
  using Share = ElasticShare;
  using Shares = std::vector<ElasticShare>;
  using Capacity = ElasticCapacity;

  [[nodiscard]] ElasticCall call(const View& view) const;
  [[nodiscard]] Resize resize(const View& view, const JobSpec& job, Placement to) const;
  [[nodiscard]] Share share_of(const JobView& job) const;
  void plan_round(const View& view, RoundPlan& plan, std::vector<Decision>& out);
  void between_rounds(const View& view, RoundPlan& plan, std::vector<Decision>& out);
  void divide_worthwhile(const View& view, const Capacity& all, Capacity left, Shares& shares);
  void place_shares(const View& view, const Capacity& all, Occupancy& planned, const Shares& shares,
                    RoundPlan& plan, std::vector<Decision>& out);
  [[nodiscard]] std::vector<std::optional<Placement>> find_places(const View& view,
                                                                  const Capacity& all,
                                                                  Capacity left, Shares& moves,
                                                                  Occupancy& planned);
  void divide_among_runners(const View& view, const Capacity& all, Capacity left,
                            Occupancy& planned, std::vector<Decision>& out);
  void reallocate_stayers(const View& view, const Shares& stayers,
                          std::vector<Decision>& out) const;
  void move_stayers(const View& view, Occupancy& planned, const Shares& stayers,
                    std::vector<Decision>& out) const;

  PolicyFacts facts_;
  PriceRouting routing_{true};
  bool between_;
  std::unique_ptr<Division> division_;
  Rounds rounds_;
  ElasticProgress progress_;
  OverPartitions over_;
};

}  // namespace starling
