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

/// Why the last division that was about a job gave it so many GPUs, and what would have to be
/// otherwise for it to have more; for people.
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
    Got got;
    std::optional<RankGrant> grant, more;
    double price = 0;  // of the type of `more`
    bool held = false;
  };
  [[nodiscard]] std::string gpus_of(std::uint32_t gpus, std::uint32_t type) const;
  [[nodiscard]] std::string next_step(const Reason& reason) const;
  /// Where it got other than its part.
  [[nodiscard]] std::string why_other(const Reason& reason) const;

  std::vector<std::string> types_;
  std::map<JobId, Reason> reasons_;
};

}  // namespace starling
