// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/published/pollux/cluster.h"

namespace starling {

/// Tiresias as Pollux' simulator has it: jobs run with the GPUs they ask for, in two queues by
/// attained service; one with 57,600 GPU seconds of running goes to the second for good.
/// A running job keeps its GPUs as long as its place in the order allows it to run.
class TiresiasThere final : public PolluxScheduler {
 public:
  explicit TiresiasThere(const PolluxCluster& cluster) : cluster_(cluster) {}
  [[nodiscard]] std::vector<NodeList> decide(std::int64_t now_s,
                                             std::span<const PolluxJob* const> jobs) override;

 private:
  struct Known {
    bool runs = false, demoted = false;
    std::int64_t seen_s = 0, executed_s = 0;
  };
  using Queue = std::vector<const PolluxJob*>;
  void demote(std::int64_t now_s, std::span<const PolluxJob* const> jobs);

  PolluxCluster cluster_;
  std::map<const PolluxJob*, Known> known_;
  Queue first_, second_;
};

/// Optimus there, with an oracle of step times and of the steps that are left: one GPU each, then
/// one more where it saves the most seconds.
class OptimusThere final : public PolluxScheduler {
 public:
  explicit OptimusThere(const PolluxCluster& cluster) : cluster_(cluster) {}
  [[nodiscard]] std::vector<NodeList> decide(std::int64_t now_s,
                                             std::span<const PolluxJob* const> jobs) override;

 private:
  [[nodiscard]] double step_s(const PolluxJob& job, std::uint32_t gpus);
  [[nodiscard]] std::vector<std::uint32_t> divide(std::span<const PolluxJob* const> jobs);

  PolluxCluster cluster_;
  std::map<const PolluxJob*, std::map<std::uint32_t, double>> step_s_;
};

}  // namespace starling
