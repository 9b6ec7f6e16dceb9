// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gnn/train/decisions.h"
#include "gnn/train/scenario.h"
#include "gnn/train/trainable_system.h"

namespace starling {

/// Runs the scenario under the weights, or under the teacher (a part `follow` of the decisions, at
/// random), and keeps a part of what was decided, with the teacher's choice as target.
struct ImitateOptions {
  std::string teacher = {};  ///< as check_teacher(); empty: the system's
  double keep = 0.2, follow = 0.7;
  std::uint64_t seed = 1;
};
/// Any placement policy can be one, a rule or a net, but for those that list places of their own:
/// an error for these, and for what is none.
[[nodiscard]] Status check_teacher(const std::string& policy);
[[nodiscard]] Result<SeenDecisions> collect_teacher(const TrainableSystem& system,
                                                    const Scenario& scenario,
                                                    const Weights& weights,
                                                    const ImitateOptions& options);

/// Runs the scenario under the weights and asks of some decisions what each option leads to: the
/// roll-out simulator plays the next arrivals from there under a policy, with the jobs' true
/// durations and the agents' own speed model. Targets are costs in hours of job completion time,
/// less those of the cheapest option.
struct ExpertOptions {
  std::function<std::unique_ptr<Policy>()> policy;  ///< of roll-outs
  double sample = 0.02;                             ///< part of the decisions that are asked about
  std::uint32_t options = 6, arrivals = 60;
  double explore = 0.05;  ///< part of the decisions taken at random among the best three
  std::uint64_t seed = 1;
  std::uint32_t limit = 400;  ///< decisions of one run
  double horizon_h = 0;       ///< of roll-outs, beyond which costs are estimated; 0: to the end
};
[[nodiscard]] Result<SeenDecisions> collect_expert(const TrainableSystem& system,
                                                   const Scenario& scenario, const Weights& weights,
                                                   const ExpertOptions& options);

}  // namespace starling
