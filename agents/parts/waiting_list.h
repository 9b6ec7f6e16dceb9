// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduling/policy.h"
#include "scheduling/waiting_changes.h"

namespace starling {

/// The views of the jobs that wait, in order of arrival, as a policy reads them. Jobs mostly leave
/// at the front or a few at a time, so leaving only marks; the marked are removed together, before
/// the next look.
class WaitingList {
 public:
  /// `view.order` must not be in the list.
  void add(JobView view);
  /// Nothing if the job has left or never came. Valid until the next add() or views().
  [[nodiscard]] JobView* find(std::uint64_t order);
  /// False if it is not there.
  bool leave(std::uint64_t order);
  /// Valid until the next call that changes the list.
  [[nodiscard]] std::span<const JobView> views();
  [[nodiscard]] const WaitingChanges& changes() const noexcept { return changes_; }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size() - first_ - marked_; }

 private:
  std::vector<JobView> entries_;  // by order; a null spec marks one that has left
  std::size_t first_ = 0;         // all before it have left
  std::size_t marked_ = 0;        // marked ones from there on
  WaitingChanges changes_;
};

}  // namespace starling
