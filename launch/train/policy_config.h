// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "gnn/train/train_policy.h"
#include "launch/experiment/load_experiment.h"

namespace starling {

/// What `starling train policy --config FILE` reads (docs/learning.md): which suite's training and
/// validation splits, and the stages.
struct PolicyConfig {
  std::string name = "marl";
  std::filesystem::path suite;
  std::vector<double> loads;         ///< empty: the suite's
  std::vector<std::uint64_t> seeds;  ///< draws of the jobs' models; empty: the suite's
  std::vector<std::uint32_t> agents{1};
  AblationMask mask;                  ///< of agents in training
  std::uint32_t validation_runs = 0;  ///< 0: every pair of the validation split
  TrainPolicyOptions train;
  std::string text;                ///< of the file
  std::vector<std::string> notes;  ///< for people: keys in an earlier spelling, a line each
};

/// `systems`: those that may be trained. `invalid` with a line per mistake: file:line:column, what
/// is wrong, what would be right.
[[nodiscard]] Result<PolicyConfig> load_policy_config(
    const std::filesystem::path& file,
    const std::vector<TrainableSystem>& systems = trainable_systems());

/// Where the suite first says ${DATA}, as file:line:column; empty: nowhere.
[[nodiscard]] std::string place_of_data(const std::filesystem::path& suite);

/// One scenario for each topology, workload, load, seed and number of agents of a split.
[[nodiscard]] Result<std::vector<Scenario>> scenarios_of(const PolicyConfig& config,
                                                         const std::string& split,
                                                         const Variables& variables);

}  // namespace starling
