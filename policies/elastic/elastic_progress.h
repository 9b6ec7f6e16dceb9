// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "scheduling/policy.h"

namespace starling {

/// How much of each job's work is done, in seconds at the size it asks for on its best placement.
///
/// JobView::served counts work for attempts that are over, and wall time for the one that runs.
/// The latter is turned into work here by what the speed model says of its placement.
class ElasticProgress {
 public:
  /// At every call of the policy; forgets the jobs that are gone.
  void observe(const View& view);
  /// A job of the last observe().
  [[nodiscard]] double done_s(JobId job) const;
  /// What is left of a job. Without an estimate of its duration: as much as it has done, which is
  /// what a heavy tail promises. Of a job that has outlived its estimate: a twentieth of that.
  /// At least a second.
  [[nodiscard]] double left_s(const JobSpec& job) const;

 private:
  struct Known {
    double before_s = 0;  // in attempts that are over
    Duration before{0};   // the same as `served` had it
    double done_s = 0;    // in all
    double rate = 1;      // of the attempt that runs
    Placement placement;  // of the attempt that runs
    Allocation allocation;
    bool seen = false;
  };
  void see(const View& view, const JobView& job);

  std::map<JobId, Known> known_;
};

}  // namespace starling
