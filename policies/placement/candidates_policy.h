// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policies/partitions/co_allocation.h"
#include "policies/partitions/elsewhere.h"
#include "policies/placement/candidates.h"
#include "policies/placement/remaining_times.h"
#include "policies/queues/queue_policy.h"

namespace starling {

/// Who is asked about first, and what is known of how long jobs take.
enum class PlacementOrder : std::uint8_t {
  arrival,
  /// The least GPU time that it may still take (RemainingTimes, by kin), then by arrival.
  forecast
};
/// Of threshold=.
inline constexpr const char* kThresholdHelp =
    "a job waits while no place adds so much of its best speed, net of what others lose";
/// Reads order=.
[[nodiscard]] PlacementOrder read_placement_order(OptionReader& reader, PlacementOrder otherwise);

/// A policy of family A: one after the other every waiting job gets a place, goes to another
/// partition, or is passed over. What it does is choose(). A look that got nothing is not asked
/// about again until something changes, here or in a digest; nor are others of that look that are
/// expected to take about as long.
class PlacementPolicy : public QueuePolicy {
 public:
  /// `follow`: remaining_ is asked.
  explicit PlacementPolicy(const QueueOptions& options, bool follow = false,
                           PlacementOrder order = PlacementOrder::arrival)
      : QueuePolicy(options, Fit::count),
        candidates_(follow || order == PlacementOrder::forecast),
        remaining_(order == PlacementOrder::forecast),
        follow_(follow || order == PlacementOrder::forecast),
        order_(order) {}
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;

 protected:
  /// What to do with a job: start it there, give it to that agent, or, empty, let it wait.
  struct Answer {
    Answer(std::nullopt_t) {}
    Answer(Placement placement) : here(std::move(placement)) {}
    Answer(std::optional<Placement> placement) : here(std::move(placement)) {}
    explicit Answer(const Destination* destination) : there(destination) {}
    std::optional<Placement> here;
    const Destination* there = nullptr;
  };

  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }
  [[nodiscard]] bool idle(const View& view) const override {
    return view.gpus.free_count() == 0 && !candidates_.room_to_share() && !elsewhere_.any();
  }
  [[nodiscard]] bool fits_empty(const JobSpec& job) const override {
    return candidates_.fits(job, empty()) &&
           (!demand_of(job).any() || place(empty(), shape(), job, Fit::count).has_value());
  }
  void start_here(const View& view, Trial& trial, std::vector<Decision>& out) override;
  void cooperate(const View& view, Trial& trial, std::vector<Decision>& out) override;

  [[nodiscard]] virtual Answer choose(const View& view, const Wish& wish, const JobView& job) = 0;
  /// The least part of a job's best speed that a place must add, for policies that know speeds:
  /// their jobs go where they are fastest. None: Cooperation moves them, by free GPUs.
  [[nodiscard]] virtual std::optional<double> minimum_gain() const { return std::nullopt; }
  /// Whether a refusal stands for all that look like the job, until something changes.
  [[nodiscard]] virtual bool alike(const JobView&) const { return true; }
  /// Called of every job that waits on, in the order in which they are asked about.
  virtual void passed_over(const QueueEntry&) {}
  /// Somebody runs here, so a job that waits will see a change.
  [[nodiscard]] static bool busy(const View& view) { return view.gpus.busy_count() > 0; }

  /// Speed of the job alone on the best GPUs that it could have, here or, for those that know
  /// speeds, elsewhere while it may still go there.
  [[nodiscard]] double best_alone(const Wish& wish);
  /// What a policy that knows speeds does beyond its own partition: `slowdown` is that of the place
  /// that the job would start in here (in millionths), none: it would wait.
  [[nodiscard]] const Destination* better_elsewhere(const Wish& wish,
                                                    std::optional<std::int64_t> slowdown);

  Candidates candidates_;
  RemainingTimes remaining_;
  Elsewhere elsewhere_;
  std::vector<Destination> destinations_;  ///< of the job in choose()
  bool later_ = false;  ///< that job may go elsewhere once its time here has come
  double queue_ = 0;    ///< GPUs wanted by those that wait here, for each GPU

 private:
  [[nodiscard]] std::span<const std::size_t> turns(Instant now);
  void give_away(const View& view, const QueueEntry& entry, const JobView& job,
                 const Destination& to, std::vector<Decision>& out);
  [[nodiscard]] bool spread(const View& view, const QueueEntry& entry, const JobView& job,
                            Trial& trial, std::vector<Decision>& out);

  bool follow_;
  PlacementOrder order_;
  std::vector<std::size_t> turns_;  // positions in index_.queue()
  std::vector<double> areas_;       // by those
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
  [[nodiscard]] std::uint64_t length_of(std::size_t turn) const;
  std::vector<Refusal> refused_;       // by look
  std::vector<Refusal> refused_here_;  // of that, no place here
  bool tries_ = false;                 // that job may go to see who is there to share with
  std::uint32_t given_ = 0;            // in this call
  double waiting_gpus_ = 0;            // those that wait here and were not given away
  CoAllocation gangs_;
};

}  // namespace starling
