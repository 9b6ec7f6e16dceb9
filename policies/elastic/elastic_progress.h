// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "policies/parts/job_memo.h"
#include "scheduling/memory_bytes.h"
#include "scheduling/policy.h"

namespace starling {

/// How much of each job's work is done, in seconds at the size it asks for on its best placement.
///
/// JobView::served counts work for attempts that are over, and wall time for the one that runs.
/// The latter is turned into work here by what the speed model says of its placement, and of who is
/// on the same GPUs.
class ElasticProgress {
 public:
  /// At every call of the policy; forgets the jobs that are gone.
  void observe(const View& view);
  [[nodiscard]] bool knows(JobId job) const { return known_.find(job) != nullptr; }
  /// A job of the last observe().
  [[nodiscard]] double done_s(JobId job) const;
  /// What is left of a job. Without an estimate of its duration: as much as it has done, which is
  /// what a heavy tail promises. Of a job that has outlived its estimate: a twentieth of that.
  /// At least a second.
  [[nodiscard]] double left_s(const JobSpec& job) const;
  /// For Policy::save(). Where that is more than `most_bytes`, of those jobs that have done most.
  void save(MemoryWriter& out, Instant origin, std::size_t most_bytes) const;
  /// Reads what save() wrote; what cannot be fails `in`. The jobs are those of the next observe()
  /// that it names.
  void restore(MemoryReader& in, Instant origin);
  /// Grows when a job comes, goes, or is placed otherwise.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  struct Known {
    double before_s = 0;  // in attempts that are over
    Duration before{0};   // the same as `served` had it
    Duration served{0};   // at `at`
    Instant at;
    double done_s = 0;    // in all
    double rate = 1;      // of the attempt that runs
    Placement placement;  // of the attempt that runs
    Allocation allocation;
    std::optional<JobId> beside;  // on the same GPUs
    bool restored = false;
  };
  void see(const View& view, const JobView& job, const JobView* beside);
  static void begin(Known& known, const View& view, const JobView& job, const JobView* beside);
  [[nodiscard]] static std::size_t bytes_of(const Known& known);
  static void anchor(Known& known, const JobView& job, Instant now);

  static constexpr std::size_t kMostJobs = 8192;
  JobMemo<JobId, Known> known_;
  /// By the first of their GPUs; of one call.
  std::vector<std::pair<const JobView*, const JobView*>> on_;
  std::uint64_t version_ = 0;
};

}  // namespace starling
