// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policies/candidates/candidates.h"
#include "policies/partitions/forwarding_by_speed.h"
#include "policies/parts/queue_index.h"
#include "policies/placement/remaining_times.h"

namespace starling {

/// What may be done with a job: with one that waits or, resize and wait, with one that runs.
enum class OptionKind : std::uint8_t {
  start,           ///< in this partition, at a place
  forward,         ///< another partition gets it
  co_allocate,     ///< it asks several partitions for GPUs, this one's share first
  stop_and_start,  ///< other jobs of this partition stop, then it starts there
  resize,          ///< it stops, and starts in this partition with another number of GPUs
  wait             ///< it goes on as it is, and is asked about again when something changes
};

/// How a gang could run over several partitions now, by their digests.
struct CoAllocationPlan {
  GpuTypeId type;               ///< all of its GPUs
  double speed = 0;             ///< alone on it; relative, as Speed
  std::uint64_t elsewhere = 0;  ///< free GPUs of the type in other partitions
  Placement share;              ///< what it takes here, in whole workers; may be empty
  bool shares = false;          ///< free GPUs are not enough: it would share others with a job each
  std::uint64_t open = 0;       ///< then: GPUs of the type, here and elsewhere, that have one job
};

/// GPUs that a job could have once others, or it itself, have left them.
struct RoomPlan {
  Placement place;
  std::vector<const JobView*> stops;  ///< the others that have to stop; of resize: none
};

struct PlacementOption {
  OptionKind kind = OptionKind::wait;
  const Candidate* place = nullptr;          ///< of start, else null
  const Destination* destination = nullptr;  ///< of forward, else null
  const CoAllocationPlan* plan = nullptr;    ///< of co_allocate, else null
  const RoomPlan* room = nullptr;            ///< of stop_and_start and resize, else null
};

/// What is the same for all jobs of one call of Policy::decide(). All of it outlives the call.
struct DecisionContext {
  const View& view;
  Candidates& candidates;
  const RemainingTimes& remaining;
  ForwardingBySpeed& forwarding;
  const QueueIndex& queue;
  const Occupancy& empty;    ///< the partition with everything free
  const Occupancy& planned;  ///< the partition with what this call has promised
  const Shape& shape;        ///< of the partition

  /// Some job runs here, so one that waits will see a change.
  [[nodiscard]] bool busy() const { return view.gpus.busy_count() > 0; }
};

/// Where else a job could go; nothing for policies that know no speeds.
struct WaysOut {
  std::span<const Destination> destinations = {};
  bool later = false;  ///< it may go elsewhere once its time here has come
  bool tries = false;  ///< it may go to see who is there to share with
  double queue = 0;    ///< GPUs wanted by those that wait here, for each GPU

  [[nodiscard]] bool any() const noexcept { return later || !destinations.empty(); }
};

/// One decision of a placement policy: a job, and what may be done with it. Valid during the call
/// that it is given to. Copies nothing; one that keeps it copies what it needs.
///
/// A job that waits on may be asked about again when all others have been: where the policy may
/// stop or resize jobs (PlacementPowers), whether others stop for it, or whether it starts smaller
/// than it asks; then a gang, whether it is co-allocated. One at most is co-allocated in a call.
/// When no job waits for room here, one that runs smaller than it asks may be asked about: whether
/// it is resized.
struct DecisionPoint : DecisionContext {
  const PlacementRequest& request;
  const JobView& job;
  WaysOut out;
  /// First the starts, those on free GPUs before those that share, then the forwards in the order
  /// of `out`, then waiting, where that is one; or one of another kind, and waiting.
  std::span<const PlacementOption> options = {};

  [[nodiscard]] std::size_t starts() const noexcept;
  [[nodiscard]] bool may_wait() const noexcept {
    return !options.empty() && options.back().kind == OptionKind::wait;
  }
  /// There is nothing to choose: the job has no place, and no partition may have it.
  [[nodiscard]] bool forced() const noexcept { return options.size() == 1 && may_wait(); }
  /// Speed of the job alone on the best GPUs that it could have, here or, while it may still go
  /// there, elsewhere.
  [[nodiscard]] double best_alone() const;
  /// What a policy that knows speeds does beyond its own partition: `slowdown` is that of the place
  /// that the job would start in here (in millionths), none: it would wait. `minimum_gain`: as in
  /// PlacementRules. Null: it stays.
  [[nodiscard]] const Destination* better_elsewhere(double minimum_gain,
                                                    std::optional<std::int64_t> slowdown) const;
};

/// The index of the largest, the first of equals. At least one.
[[nodiscard]] std::size_t best_of(std::span<const double> scores);

}  // namespace starling
