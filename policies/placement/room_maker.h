// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "policies/candidates/candidates.h"
#include "policies/placement/decision_point.h"
#include "policies/queues/queue_walk.h"

namespace starling {

struct Feedback;

/// What a placement policy may do beside giving waiting jobs what is free.
struct PlacementPowers {
  bool stops = false;    ///< running jobs, for waiting ones of a higher priority
  bool resizes = false;  ///< elastic jobs: they start smaller than they ask, and grow to that
  [[nodiscard]] bool any() const noexcept { return stops || resizes; }
};

/// One call of decide(), as RoomMaker needs it.
struct RoomCall {
  const View& view;
  QueueWalk& walk;
  Candidates& candidates;
  Trial& trial;
  std::vector<Decision>& out;
};

/// Room in one partition beyond what is free: the options stop_and_start and resize. What a job was
/// promised is kept for it over calls, until those that have it now have stopped and it starts
/// there. A promise that does not come true within ten minutes, or on a server that is drained
/// meanwhile, is given up, and the job waits as before.
class RoomMaker {
 public:
  explicit RoomMaker(PlacementPowers may) : may_(may) {}
  [[nodiscard]] const PlacementPowers& may() const noexcept { return may_; }
  /// No job has been promised anything.
  [[nodiscard]] bool idle() const noexcept { return promises_.empty(); }

  /// Before anything starts in a call, which is checked. Starts those whose promised GPUs are free,
  /// keeps what is free of the others', and marks both.
  void begin(RoomCall call);

  /// Where the waiting job could start if jobs of a lower priority stopped: the least urgent first,
  /// of those the ones that started last, and none that the place does not need. Nothing: nowhere.
  [[nodiscard]] std::optional<RoomPlan> stops_for(const RoomCall& call, const JobView& job);
  /// As many GPUs as there is room for, fewer than the elastic job asks for; nothing: none.
  [[nodiscard]] std::optional<Placement> smaller(const RoomCall& call, const JobView& job) const;
  /// A running job, and where it is to be.
  struct Growth {
    const JobView* job = nullptr;
    RoomPlan plan;
  };
  /// Where one could have all that it asks for that has had less for ten minutes. Nothing: none, or
  /// nowhere.
  [[nodiscard]] std::optional<Growth> to_grow(const RoomCall& call);

  /// That is done: the decisions, and the promise.
  void stop_and_start(const RoomCall& call, const JobView& job, const RoomPlan& plan);
  void grow(const RoomCall& call, const Growth& growth);
  /// Such a decision came to nothing.
  void refused(const Feedback& feedback);

 private:
  struct Promise {
    JobId job;
    std::uint64_t order = 0;  // of the job
    Placement place;
    std::vector<JobId> stops;
    bool resizes = false;
    Instant since;
  };
  enum class Fate : std::uint8_t { kept, given_up, kept_true };
  [[nodiscard]] Fate look_at(RoomCall call, const Promise& promise);
  [[nodiscard]] bool is_stopping(JobId job) const;
  /// In the order in which they are to stop; valid until the next call of this.
  [[nodiscard]] std::span<const JobView* const> victims_of(const View& view, std::int32_t below);

  PlacementPowers may_;
  std::vector<Promise> promises_;           // in the order in which they were given
  std::map<std::uint64_t, Instant> small_;  // by order: runs smaller than it asks, seen since
  Mirror soon_;                             // once those who stop have stopped
  std::vector<const JobView*> victims_;     // memory of victims_of()
};

}  // namespace starling
