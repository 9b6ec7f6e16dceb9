// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "scheduling/policy.h"

namespace starling {

/// The running jobs of a home by the time at which their estimates say that they end, for policies
/// that ask which ends first or last: they pay for the jobs that they look at, not for all of them.
class RunningIndex {
 public:
  struct End {
    Instant at;             ///< kNever: its length is not known
    std::uint64_t run = 0;  ///< ascending in order of start; unique
    friend auto operator<=>(const End&, const End&) = default;
  };

  RunningIndex() = default;
  /// What `running` says at `now`, where no index is kept.
  RunningIndex(std::span<const JobView> running, Instant now);

  /// A job that runs since `since` and had `view.served` before. `run` must be new.
  void add(std::uint64_t run, JobView view, Instant since);
  void restart(std::uint64_t run, Instant since);
  void remove(std::uint64_t run);
  /// To be changed in what does not move its end. Null: it does not run.
  [[nodiscard]] JobView* find(std::uint64_t run);

  [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }
  /// First to end first, ties by start.
  [[nodiscard]] const std::set<End>& ends() const noexcept { return ends_; }
  /// The job with `served` as of `now`. Valid until the index changes.
  [[nodiscard]] const JobView& job(const End& end, Instant now) const;
  /// Null: it does not run.
  [[nodiscard]] const JobView* find(JobId job, Instant now) const;
  /// Calls f(job) for all of them, by start.
  template <class F>
  void each(Instant now, F f) const {
    for (const auto& [run, entry] : entries_) f(look(entry, now));
  }

 private:
  struct Entry {
    mutable JobView view;  // served is brought up to date when it is read
    Instant since;
    Duration before{0};
    [[nodiscard]] Instant end() const;
  };
  [[nodiscard]] static const JobView& look(const Entry& entry, Instant now);

  std::map<std::uint64_t, Entry> entries_;  // by run
  std::set<End> ends_;
  std::unordered_map<JobId, std::uint64_t> runs_;  // looked up, never walked
};

}  // namespace starling
