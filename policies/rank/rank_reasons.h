// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "policies/rank/rank_rule.h"
#include "scheduling/policy.h"

namespace starling {

/// Why the last division that was about a job gave it so many GPUs, why it was stopped, what would
/// have to be otherwise for it to have more, and when one that waits is expected to start: when
/// jobs that run, at the speeds that they have, will have left enough for those that go first and
/// for its least size. For people.
class RankReasons {
 public:
  /// What a job of the division has after it, where there was room for that.
  struct Got {
    JobId job;
    std::uint32_t gpus = 0, type = 0;
    std::optional<JobId> beside = {};  // on the same GPUs
    std::uint32_t had = 0;             // GPUs, before
    bool asked = true;                 // the division was about it
  };
  /// Of a round: all others are forgotten.
  void note(const View& view, const RankProblem& problem, const RankAnswer& answer,
            const std::vector<Got>& jobs);
  /// Of what was divided between rounds: the others stay, as far as they are of this home.
  void add(const View& view, const RankProblem& problem, const RankAnswer& answer,
           const std::vector<Got>& jobs);
  /// Nothing: none was about it.
  [[nodiscard]] std::vector<std::string> explain(JobId job) const;

 private:
  struct Reason {
    Instant at{};
    std::size_t jobs = 0;
    double rank = 0, aged = 0, left_s = 0;
    double speed = 0;  // of what it got; 0: nothing
    Got got;
    std::optional<RankGrant> grant, more;
    double price = 0;  // of the type of `more`
    bool held = false;
    std::uint32_t type = 0, least = 0;  // what it waits for: its least size there; 0: nothing
  };
  struct Start {
    double after_s = 0;  // the division
    JobId job;           // whose end is waited for
  };
  [[nodiscard]] std::string gpus_of(std::uint32_t gpus, std::uint32_t type) const;
  [[nodiscard]] std::string next_step(const Reason& reason) const;
  /// Where it got other than its part.
  [[nodiscard]] std::string why_other(const Reason& reason) const;
  /// When so much of it was left that is to come free; none: not by what runs.
  [[nodiscard]] std::optional<Start> expected(const Reason& reason) const;
  [[nodiscard]] std::string first_line(const Reason& reason) const;
  void add_waiting(const Reason& reason, std::vector<std::string>& lines) const;

  std::vector<std::string> types_;
  std::map<JobId, Reason> reasons_;
  std::map<JobId, Instant> stopped_;  // of jobs that wait: when they were stopped
};

}  // namespace starling
