// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "policies/options.h"
#include "policies/partitions/overflow_routing.h"
#include "policies/parts/queue_index.h"
#include "policies/parts/queue_marks.h"
#include "scheduling/packing.h"

namespace starling {

/// Options that every queue takes.
struct QueueOptions {
  bool strict = false;    ///< queue=strict: stop at the first job that does not fit; skip: try all
  Fit fit = Fit::server;  ///< fit=server or count
};
enum class QueueDefault : std::uint8_t { strict, skip };
/// Reads queue= and fit= (default: server).
[[nodiscard]] QueueOptions read_queue_options(OptionReader& reader, QueueDefault otherwise);
[[nodiscard]] Fit read_fit(OptionReader& reader);

/// Of each kind of job the smallest gang that found no room in this call: no larger one need try,
/// where rooms only shrink and gangs go where place() puts them (goes_in_pieces()).
class FailedGangs {
 public:
  void reset(std::size_t kinds) {
    smallest_.assign(kinds, std::numeric_limits<std::uint32_t>::max());
  }
  [[nodiscard]] bool may_fit(const QueueEntry& entry) const {
    return entry.gpus < smallest_[entry.kind];
  }
  void add(const QueueEntry& entry) { smallest_[entry.kind] = entry.gpus; }

 private:
  std::vector<std::uint32_t> smallest_;
};

/// What a policy with a queue owns: the waiting jobs in the order of a key, what a call has dealt
/// with so far, and OverflowRouting for those that are left. It serves one partition.
class QueueWalk {
 public:
  using Starts = std::function<void(Trial&, std::vector<Decision>&)>;
  /// What a call does, in this order.
  struct Steps {
    /// Before anything starts, where there are others.
    std::function<void(std::vector<Decision>&)> before = {};
    /// Starts jobs here, and marks them; left out where a call is idle.
    Starts start;
    /// Where there are others: what becomes of those that are not marked. Empty: OverflowRouting.
    Starts route_overflow = {};
  };

  /// `key`: smaller is tried first, ties by submission; constant while a job waits. `needy`: how
  /// jobs are placed that ask for CPUs or memory; none: as options.fit says. `fits_empty`: there is
  /// room for the job in this partition when everything is free; empty: what place() says.
  QueueWalk(const QueueOptions& options, QueueIndex::KeyOf key,
            std::optional<Fit> needy = std::nullopt, QueueIndex::OfSpec fits_empty = {});
  QueueWalk(const QueueWalk&) = delete;
  QueueWalk& operator=(const QueueWalk&) = delete;

  /// One call. `idle`: no job can start here, whatever waits.
  [[nodiscard]] std::vector<Decision> decide(const View& view, bool idle, const Steps& steps);
  /// A step: starts those that fit, in order, by place().
  void start_in_order(const View& view, Trial& trial, std::vector<Decision>& out);
  /// For policies that start jobs in a way of their own: the others get those that `settled` does
  /// not hold for. In the place of decide().
  void route_rest(const View& view, Trial& trial, const std::function<bool(JobId)>& settled,
                  std::vector<Decision>& out);
  /// place() as the options say.
  [[nodiscard]] std::optional<Placement> find_place(const Occupancy& gpus,
                                                    const JobSpec& job) const;

  [[nodiscard]] const QueueOptions& options() const noexcept { return options_; }
  [[nodiscard]] QueueIndex& index() noexcept { return index_; }
  /// By position in index().queue().
  [[nodiscard]] QueueMarks& taken() noexcept { return taken_; }
  [[nodiscard]] OverflowRouting& overflow() noexcept { return overflow_; }
  [[nodiscard]] const OverflowRouting& overflow() const noexcept { return overflow_; }
  /// A copy to try things on.
  [[nodiscard]] Trial trial(const View& view) { return {planned_, view.gpus}; }

  /// What of the partition does not change; decide() reads it first.
  void learn(const Occupancy& gpus);
  [[nodiscard]] bool knows_partition() const noexcept { return shape_.has_value(); }
  [[nodiscard]] const Shape& shape() const;
  /// The partition with everything free.
  [[nodiscard]] const Occupancy& empty() const;

 private:
  QueueOptions options_;
  QueueIndex index_;
  OverflowRouting overflow_;
  QueueMarks taken_;
  FailedGangs failed_;
  Mirror planned_;
  std::optional<Shape> shape_;
  std::optional<Occupancy> empty_;
};

}  // namespace starling
