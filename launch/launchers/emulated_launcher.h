// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <vector>

#include "agents/executor/executor.h"
#include "base/time.h"
#include "interference/speed.h"
#include "topology/topology.h"
#include "workload/work_progress.h"

namespace starling {

/// GPUs that are not there: a job "runs" for Physics' start-up time plus (duration - served) /
/// rate, all divided by `speedup`. The rate follows the neighbours that this executor itself runs,
/// how many GPUs a job has of those that it asks for, and what it runs by.
/// Times handed out (served) are on the job's own scale, that is without `speedup`. Stopping is
/// immediate. What passed its deadline between two looks has ended then.
class EmulatedLauncher final : public Launcher {
 public:
  /// All three outlive it. speedup > 0.
  EmulatedLauncher(const Topology& topology, const Physics& physics, const Clock& clock,
                   double speedup = 1);

  /// `invalid` for a job whose duration is unknown.
  Status start(const LaunchSpec& spec) override;
  void stop(AttemptId attempt, Duration grace) override;
  void renew(AttemptId attempt, Instant until) override;
  void adopt(std::span<const LaunchSpec> earlier) override;  ///< all lost
  std::vector<Exit> reap() override;
  std::vector<Progress> measure() override;
  [[nodiscard]] Instant next_deadline() const noexcept override;

 private:
  /// One attempt, on all its servers here.
  struct Gang {
    JobProfile job;
    Placement placement;  // the whole gang, ascending
    Allocation allocation;
    Duration before{0}, length{0};  // work of earlier attempts, and in all
    std::set<ServerId> servers;     // of this executor
    double rate = 1;                // on the job's own scale
    WorkProgress work;              // `speedup` times as fast; begins after the start-up
    Instant until = kNever;
    [[nodiscard]] Instant over() const { return std::min(work.end(), until); }
  };

  void rate_again(const std::set<ServerId>& servers, Instant now);
  void end(AttemptId attempt, const ExitStatus& exit, Instant now);

  const Topology& topology_;
  const Physics& physics_;
  const Clock& clock_;
  double speedup_;
  std::map<AttemptId, Gang> gangs_;
  std::map<ServerId, std::set<AttemptId>> on_server_;
  std::set<std::pair<Instant, AttemptId>> ends_;
  std::vector<Exit> ended_;
};

}  // namespace starling
