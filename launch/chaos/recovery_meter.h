// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "launch/chaos/scenario/scenario.h"

namespace starling::chaos_live {

/// How long a partition is away when its agent is killed, frozen or told to end: until it answers
/// again, until it accepts a job, until all its GPUs are known again.
class RecoveryMeter {
 public:
  struct Case {
    std::uint32_t agent = 0;
    LiveFaultKind kind = LiveFaultKind::kill;
    double since = 0;
    double answered = -1, accepted = -1, reconciled = -1;  ///< seconds after `since`; below 0: not
    std::uint32_t host = 0;                                ///< whose process answered first
    bool disturbed = false;  ///< something else befell agents or etcd meanwhile
    JobId probe;
    std::uint64_t epoch = 0;  ///< of the partition when it was hit

    [[nodiscard]] bool takeover() const { return answered >= 0 && host != agent; }
    [[nodiscard]] bool over() const { return answered >= 0 && accepted >= 0 && reconciled >= 0; }
  };

  explicit RecoveryMeter(std::uint32_t agents) : epochs_(agents, 0) {}

  /// `probe`: the job that is offered to the agent from now on, again and again.
  void hit(std::uint32_t agent, LiveFaultKind kind, double now, JobId probe);
  /// Anything else that may keep a partition from coming back.
  void disturb();
  void told(const AgentStatus& status, std::uint32_t host, double now);
  /// Accepted, or what became of it: that can be all that is heard of a probe.
  void accepted(JobId probe, double now);

  /// Cases that are not over yet.
  [[nodiscard]] const std::vector<Case>& open() const noexcept { return open_; }
  /// Those that are, in order of their end.
  [[nodiscard]] const std::vector<Case>& cases() const noexcept { return over_; }

 private:
  void close_finished();
  std::vector<std::uint64_t> epochs_;
  std::vector<Case> open_, over_;
};

}  // namespace starling::chaos_live
