// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "policies/queues/queue_policy.h"

namespace starling {

/// A policy that decides anew at the start of every round who has which GPUs, and within a round
/// only carries that out: jobs start when those who were stopped for them are gone. A round starts
/// when the last one has lasted facts().round, at a round trigger, or at once while nothing runs
/// here. Waiting jobs that a round leaves out are Cooperation's.
class RoundPolicy : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) final;

 protected:
  struct Planned {
    JobId job;
    Placement placement;
    std::optional<JobId> beside = std::nullopt;  ///< who has, or will have, the same placement
  };

  /// At every call, before anything else.
  virtual void observe(const View& view) = 0;
  /// Fills plan_ with who is to start where; stops and resizes by decisions of its own.
  virtual void plan_round(const View& view, Rng& rng, std::vector<Decision>& out) = 0;
  /// At every call within a round. May add to plan_; stops nobody.
  virtual void between_rounds(const View&, std::vector<Decision>&) {}
  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }

  [[nodiscard]] bool is_planned(JobId job) const;

  std::vector<Planned> plan_;  ///< that have not started yet

 private:
  [[nodiscard]] bool round_is_due(const View& view, const Trigger& trigger) const;
  void follow_plan(const View& view, Trial& trial, std::vector<Decision>& out);
  void cooperate(const View& view, Trial& trial, std::vector<Decision>& out) override;

  std::optional<Instant> began_;
};

}  // namespace starling
