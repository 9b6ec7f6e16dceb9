// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/placement/decision_point.h"
#include "policies/placement/scorer.h"

namespace starling {

/// Lists the options of jobs, one job after the other, in the order that DecisionPoint promises.
/// The places of jobs that look alike are listed once until something changes.
class OptionLister {
 public:
  explicit OptionLister(const PlacementRules& rules) : rules_(rules) {}
  /// Valid until the next call, or until Candidates::version() grows. `scorer`: whose rules these
  /// are.
  [[nodiscard]] std::span<const PlacementOption> list(const DecisionPoint& point, Scorer& scorer);
  /// To co-allocate the gang, on the fastest type of which the flock has enough free GPUs, and to
  /// wait; nothing where it has not, or for policies that know no speeds. `shares`: enough with
  /// those that have one job. Valid as list().
  [[nodiscard]] std::span<const PlacementOption> list_co_allocation(const DecisionPoint& point,
                                                                    const QueueEntry& entry,
                                                                    bool shares);

 private:
  struct Look {
    std::uint64_t version = 0;
    std::vector<const Candidate*> places;
  };
  /// Chooses the type; false: there is none.
  [[nodiscard]] bool find_type(const DecisionPoint& point, const QueueEntry& entry, bool shares);
  [[nodiscard]] Placement share_here(const DecisionPoint& point, std::uint32_t gpus) const;
  void find_places(const DecisionPoint& point, std::vector<const Candidate*>& places) const;
  void add_shared(const DecisionPoint& point, std::vector<const Candidate*>& places) const;

  PlacementRules rules_;
  std::vector<Look> looks_;
  Candidate own_;  // the scorer's place
  std::vector<const Candidate*> own_places_;
  CoAllocationPlan plan_;
  std::vector<PlacementOption> options_;
};

}  // namespace starling
