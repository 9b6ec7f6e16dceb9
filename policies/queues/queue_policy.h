// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "policies/queues/queue_walk.h"
#include "policies/registry.h"
#include "scheduling/packing.h"

namespace starling {

/// A QueueWalk as a base class, for placement policies: a policy is its key and, if it wants, its
/// way of placing. All others own a QueueWalk.
class QueuePolicy : public Policy {
 public:
  /// `needy`: how find_place() treats jobs that ask for CPUs or memory; none: as options.fit says.
  explicit QueuePolicy(const QueueOptions& options, std::optional<Fit> needy = std::nullopt);
  QueuePolicy(const QueuePolicy&) = delete;
  QueuePolicy& operator=(const QueuePolicy&) = delete;
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;

 protected:
  /// QueueWalk's `key`.
  [[nodiscard]] virtual std::int64_t key(const JobView& job) const = 0;
  /// QueueWalk::FindPlace.
  [[nodiscard]] virtual std::optional<Placement> find_place(const View& view, const Occupancy& gpus,
                                                            const JobSpec& job) const;
  /// There is room for it in this partition when everything is free.
  [[nodiscard]] virtual bool fits_empty(const JobSpec& job) const;
  /// Nothing to do if this says so and there are no neighbours.
  [[nodiscard]] virtual bool idle(const View& view) const;
  /// Before anything starts; marks what it deals with in `taken_`.
  virtual void before_starts(const View&, std::vector<Decision>&) {}
  virtual void start_here(const View& view, Trial& trial, std::vector<Decision>& out);
  /// After the starts, where there are others: what becomes of those that are not `taken_`.
  virtual void cooperate(const View& view, Trial& trial, std::vector<Decision>& out);

  [[nodiscard]] const Shape& shape() const { return walk_.shape(); }
  /// The partition with everything free.
  [[nodiscard]] const Occupancy& empty() const { return walk_.empty(); }
  [[nodiscard]] const QueueOptions& options() const noexcept { return walk_.options(); }

 private:
  QueueWalk walk_;

 protected:
  QueueIndex& index_;
  Cooperation& cooperation_;
  QueueMarks& taken_;  ///< by position in index_.queue()
};

}  // namespace starling
