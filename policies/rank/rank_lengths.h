// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "policies/elastic/elastic_progress.h"
#include "policies/parts/job_memo.h"
#include "policies/placement/forecast.h"
#include "scheduling/policy.h"

namespace starling {

/// How long the jobs of a home still take, in time at the size that each asks for on its best
/// placement: by Forecast, from what jobs of the same user, queue and size took in all; with
/// `believes` the user's estimate where there is one.
class RankLengths {
 public:
  explicit RankLengths(bool believes) : believes_(believes) {}

  /// In every decide(), first.
  void observe(const View& view);
  /// Of a job of the last observe(). At least a second.
  [[nodiscard]] double left_s(const JobView& job, Instant now) const;
  [[nodiscard]] const ElasticProgress& progress() const noexcept { return progress_; }

  void save(MemoryWriter& out, Instant origin) const { forecast_.save(out, origin); }
  /// Both at once, or nothing.
  void resume(ElasticProgress progress, Forecast forecast);
  [[nodiscard]] std::uint64_t version() const noexcept {
    return progress_.version() + forecast_.version();
  }

 private:
  struct Seen {
    JobId job;
    std::uint64_t group = 0;
    Instant submitted;
    bool started = false;
  };
  void learn(const View& view);

  bool believes_;
  ElasticProgress progress_;
  Forecast forecast_{true};
  JobMemo<std::uint64_t, Seen> seen_;  // by order
};

}  // namespace starling
