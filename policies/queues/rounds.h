// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "policies/partitions/price_routing.h"
#include "policies/parts/evict.h"
#include "policies/queues/queue_walk.h"
#include "scheduling/memory_bytes.h"

namespace starling {

/// What is to start where in a round, and has not yet: in the order in which they were added.
class RoundPlan {
 public:
  struct Planned {
    JobId job;
    Placement placement;
    std::optional<JobId> beside = std::nullopt;  ///< who has, or will have, the same placement
    Allocation allocation = {};
  };
  void add(Planned planned) { planned_.push_back(std::move(planned)); }
  /// The job is to have `to`, or nothing, in the place of what it has. One that runs, and for whom
  /// no other has to go, is resized by one of `resizes`; otherwise it is stopped, and planned.
  void bring(const View& view, const JobView& job, std::optional<Placement> to,
             const Allocation& how, std::vector<Decision>& out, std::vector<Decision>& resizes);
  /// The same of a job that runs, also one that has no GPU in this partition.
  void move(const View& view, const JobView& job, std::optional<Placement> to,
            const Allocation& how, std::vector<Decision>& out, std::vector<Decision>& resizes);
  /// The job, which runs, stops, and starts on `to` if it is to have anything.
  void restart(JobId job, std::optional<Placement> to, std::vector<Decision>& out,
               std::optional<JobId> beside = std::nullopt, const Allocation& how = {});
  [[nodiscard]] bool contains(JobId job) const;
  /// Another job is to start beside that one.
  [[nodiscard]] bool has_guest(JobId job) const;
  [[nodiscard]] bool empty() const noexcept { return planned_.empty(); }
  void clear() { planned_.clear(); }
  /// Starts those whose places are there, and forgets those that are gone.
  void follow(const View& view, Trial& trial, std::vector<Decision>& out);
  /// Keeps what is free of all places.
  template <class Gpus>
  void keep_places(Gpus& gpus) const {
    for (const Planned& planned : planned_) keep(gpus, planned.placement);
  }

 private:
  std::vector<Planned> planned_;
};

/// The decisions of a policy that decides anew at the start of every round who has which GPUs, and
/// within a round only carries that out: jobs start when those who were stopped for them are gone.
/// A round starts when the last one has lasted, at a round trigger, or at once while nothing runs
/// here. Waiting jobs that a round leaves out are OverflowRouting's.
class Rounds {
 public:
  /// What the policy does at a call, in this order.
  struct Steps {
    /// At every call. The partition is known by then.
    std::function<void()> observe;
    /// At the start of a round: fills the plan, which is empty; stops and resizes by decisions of
    /// its own.
    std::function<void(RoundPlan&, std::vector<Decision>&)> plan;
    /// At every other call. May add to the plan; stops no job.
    std::function<void(RoundPlan&, std::vector<Decision>&)> between = {};
    /// At every other call, too, waiting jobs that it leaves out go where GPUs are free.
    bool overflows_between = false;
  };
  explicit Rounds(const QueueOptions& options);

  /// Policy::decide(). `round`: how long one lasts.
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Duration round, const Steps& steps);
  /// The same of a policy with prices, which outlive this: first newcomers go where they cost
  /// least, and `steps_of(view)` are about the view without them; of those that a round leaves out
  /// some move for a lower price, and no job to free GPUs where it would cost more.
  template <class StepsOf>
  [[nodiscard]] std::vector<Decision> decide(const View& all, const Trigger& trigger,
                                             Duration round, PriceRouting& routing,
                                             StepsOf steps_of) {
    std::vector<Decision> out;
    const View& view = routing.route(all, out);
    decide(view, trigger, round, steps_of(view), &routing, out);
    return out;
  }

  /// Of the partition, once decide() has been called with a job.
  [[nodiscard]] bool knows_partition() const noexcept { return queue_.knows_partition(); }
  [[nodiscard]] const Shape& shape() const { return queue_.shape(); }
  /// For Policy::save(): when the present one began. What it still has to start is not kept: the
  /// next one does.
  void save(MemoryWriter& out, Instant origin) const {
    out.word(began_ ? 1 : 0);
    out.instant(began_.value_or(origin), origin);
  }
  /// Reads what save() wrote; what cannot be fails `in`.
  [[nodiscard]] static std::optional<Instant> read_began(MemoryReader& in, Instant origin) {
    const bool began = in.word() != 0;
    const Instant at = in.instant(origin);
    return began ? std::optional(at) : std::nullopt;
  }
  void resume(std::optional<Instant> began) { began_ = began; }
  /// Rounds that have begun, in this life.
  [[nodiscard]] std::uint64_t begun() const noexcept { return begun_; }
  /// Policy::ask_again_at() of one that overflows between rounds.
  [[nodiscard]] Instant ask_again_at() const noexcept { return ask_again_; }
  /// The partition with everything free.
  [[nodiscard]] const Occupancy& empty() const { return queue_.empty(); }

 private:
  void decide(const View& view, const Trigger& trigger, Duration round, const Steps& steps,
              PriceRouting* routing, std::vector<Decision>& out);
  [[nodiscard]] bool is_due(const View& view, const Trigger& trigger, Duration round) const;
  void route_rest(const View& view, Trial& trial, PriceRouting* routing,
                  std::vector<Decision>& out);

  QueueWalk queue_;
  RoundPlan plan_;
  std::optional<Instant> began_;
  std::uint64_t begun_ = 0;  // rounds
  Instant ask_again_ = kNever;
};

}  // namespace starling
