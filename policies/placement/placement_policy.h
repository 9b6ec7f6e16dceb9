// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policies/candidates/candidates.h"
#include "policies/partitions/co_allocation.h"
#include "policies/partitions/forwarding_by_speed.h"
#include "policies/placement/chooser.h"
#include "policies/placement/list_options.h"
#include "policies/placement/placement_system.h"
#include "policies/placement/reasons.h"
#include "policies/placement/remaining_times.h"
#include "policies/placement/room_maker.h"
#include "policies/placement/scorer.h"
#include "policies/queues/queue_walk.h"
#include "scheduling/queue_order.h"

namespace starling {

/// A policy of family A: one after the other every waiting job gets a place, goes to another
/// partition, or is passed over: the option that its Scorer scores highest, or the one that a
/// Chooser takes. A look that got nothing is not asked about again until something changes, here or
/// in a digest; nor are others of that look that are expected to take about as long.
class PlacementPolicy final : public Policy, public QueueOrder {
 public:
  /// `chooser`: makes the decisions and outlives this; null: the scorer's best is taken.
  explicit PlacementPolicy(PlacementSystem system, Chooser* chooser = nullptr);
  PlacementPolicy(const PlacementPolicy&) = delete;
  PlacementPolicy& operator=(const PlacementPolicy&) = delete;
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View& given, const Trigger& trigger,
                                             Rng& rng) override;
  [[nodiscard]] std::vector<CoTenant> co_tenants(const View& given, const JobSpec& gang,
                                                 std::size_t most) override;
  [[nodiscard]] std::vector<std::size_t> choose_tenants(const View& given, const JobView& gang,
                                                        std::uint32_t free,
                                                        std::span<const CoTenant> offered) override;
  void refused(const Feedback& feedback) override {
    reasons_.refused(feedback);
    rooms_.refused(feedback);
  }
  [[nodiscard]] std::span<const float> summary() const override { return scorer_->summary(); }
  [[nodiscard]] bool asks_first(const JobView& a, const JobView& b, Instant now) const override;
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override {
    return reasons_.explain(job, scorer_->score_is());
  }
  /// Of one that waits and of which explain() says nothing.
  [[nodiscard]] std::vector<std::string> explain_now(const View& view,
                                                     const JobView& job) const override;
  /// What jobs take that recur, where that is asked for.
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override;
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override;
  [[nodiscard]] std::uint64_t learned() const noexcept override {
    return remaining_.forecast().version() + scorer_->learned();
  }

 private:
  /// Takes the parts of the system.
  PlacementPolicy(PlacementSystem& system, const PlacementRules& rules, Chooser* chooser);
  [[nodiscard]] bool fits_empty(const JobSpec& job);
  /// The steps of a call, as QueueWalk has them.
  void start_here(const View& view, Candidates& candidates, Trial& trial,
                  std::vector<Decision>& out);
  void route_overflow(const View& view, Candidates& candidates, Trial& trial,
                      std::vector<Decision>& out);
  /// Positions in the queue, in the order in which they are tried.
  [[nodiscard]] std::span<const std::size_t> in_order(Instant now);
  [[nodiscard]] DecisionContext context_of(const View& view, Candidates& candidates,
                                           const Trial& trial);
  struct Choice {
    PlacementOption option;
    Scored scored;
  };
  /// Of the options of `point`, which it lists.
  [[nodiscard]] Choice choose(DecisionPoint& point);
  /// Of those that are listed and have their scores.
  [[nodiscard]] PlacementOption take(const DecisionPoint& point, const Scored& said,
                                     bool asks_chooser);
  void passed_over(const QueueEntry& entry);
  /// What a call has done so far.
  struct Given {
    std::uint32_t forwarded = 0;  ///< jobs
    double waiting_gpus = 0;      ///< those that wait here and were not given away
  };
  /// `memory`: of the destinations; the job's until the next call.
  [[nodiscard]] WaysOut ways_out(const DecisionPoint& point, const QueueEntry& entry,
                                 const Given& given, std::vector<Destination>& memory);
  /// False: the job waits on.
  [[nodiscard]] bool carry_out(const Choice& choice, const DecisionPoint& point,
                               const QueueEntry& entry, Given& given, Trial& trial,
                               std::vector<Decision>& out);
  /// Whether the gang is co-allocated or waits: false.
  [[nodiscard]] bool co_allocate(const DecisionContext& context, const QueueEntry& entry,
                                 const JobView& job, bool shares, Trial& trial,
                                 std::vector<Decision>& out);
  // placement_room.cpp: beyond what is free.
  /// After start_here(): of each job that waits on, whether others stop for it, or it starts
  /// smaller.
  void make_room(RoomCall call);
  /// True: it is dealt with.
  [[nodiscard]] bool make_room_for(const RoomCall& call, const QueueEntry& entry,
                                   const JobView& job);
  /// At the end of a call in which nothing waits for room: whether a running job is resized.
  void grow(const View& view, Candidates& candidates, std::vector<Decision>& out);
  /// Of `option` or waiting, of which no score is said: it is taken unless a Chooser says
  /// otherwise.
  [[nodiscard]] bool takes(const DecisionContext& context, const PlacementRequest& request,
                           const JobView& job, const PlacementOption& option);
  /// What runs here now.
  [[nodiscard]] Candidates look(const View& view);

  PolicyFacts facts_;
  PlacementOrder order_;
  PlacementRules rules_;
  QueueWalk walk_;
  std::unique_ptr<Scorer> scorer_;
  Chooser* chooser_;
  bool follow_;        // remaining_ is asked
  bool shares_gangs_;  // of several partitions
  CandidateMemory candidates_;
  RemainingTimes remaining_;
  ForwardingBySpeed forwarding_;
  OptionLister lister_;
  Reasons reasons_;
  std::vector<Destination> destinations_;  // memory of start_here()
  std::vector<double> scores_;             // memory of choose()
  std::vector<std::size_t> positions_;     // memory of in_order()
  std::vector<double> areas_;              // by position in the queue
  /// For which lengths nothing was found, and when.
  struct Refusal {
    std::uint64_t state = 0;  // see start_here()
    std::uint64_t lengths = 0;
    [[nodiscard]] bool stands(std::uint64_t now, std::uint64_t length) const {
      return state == now && (lengths & length) != 0;
    }
    void add(std::uint64_t now, std::uint64_t length) {
      if (state != now) *this = {now, 0};
      lengths |= length;
    }
  };
  /// One bit for lengths that differ by less than a factor of four, all one where none is forecast.
  [[nodiscard]] std::uint64_t length_of(std::size_t position);
  std::vector<Refusal> refused_;       // by look
  std::vector<Refusal> refused_here_;  // of that, no place here
  CoAllocation gangs_;
  RoomMaker rooms_;
};

}  // namespace starling
