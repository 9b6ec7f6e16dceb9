// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "agents/step/job.h"
#include "scheduling/policy.h"
#include "scheduling/running_index.h"

namespace starling {

/// The running jobs of a home as its policy reads them, for policies that do: a list by start, or
/// an index by expected end. Jobs leave the list by a mark; views() removes the marked together.
class RunningViews {
 public:
  explicit RunningViews(const PolicyFacts& facts);

  /// Counts the job's run, which is new, and gives it its number.
  void enter(Job& job);
  /// Its processes run since job.run()->started.
  void started(const Job& job);
  void leave(const Job& job);
  /// Executors have told something of it (Job::seen).
  void measured(const Job& job);
  /// To be changed in what does not move its end. Null: the policy does not read it.
  [[nodiscard]] JobView* find(const Job& job);

  /// The policy asks for those that run, so it is to be asked when they change.
  [[nodiscard]] bool are_read() const noexcept { return kept_ != Kept::nothing; }
  [[nodiscard]] bool any() const noexcept { return list_.size() > left_ || !ends_.empty(); }
  /// By start, up to date at `now`; empty where there is an index. Valid until the next change.
  [[nodiscard]] std::span<const JobView> views(Instant now);
  /// Null: the policy does not read by end.
  [[nodiscard]] const RunningIndex* ends() const noexcept {
    return kept_ == Kept::by_end ? &ends_ : nullptr;
  }
  /// What is kept of the list, those that have left and are not yet removed too.
  [[nodiscard]] std::size_t kept() const noexcept { return list_.size(); }

 private:
  enum class Kept : std::uint8_t { nothing, by_start, by_end };
  struct Clock {
    std::uint64_t run = 0;   ///< Job::Run::number; ascending
    Instant since = kNever;  ///< the open attempt's start
    Duration before{0};      ///< service of earlier attempts
  };

  Kept kept_;
  std::vector<JobView> list_;  // a null spec marks one that has left
  std::vector<Clock> clocks_;  // of `list_`
  std::size_t left_ = 0;       // marked ones
  RunningIndex ends_;
  std::uint64_t runs_ = 0;  // entered so far in this life
};

}  // namespace starling
