// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "gnn/learned_system.h"
#include "interference/models/speed_choice.h"
#include "nets/weights.h"
#include "policies/placement/chooser.h"
#include "sim/run/run_result.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// One run to learn from: a data centre and its jobs, with the durations that agents never see.
struct Scenario {
  std::string name;  ///< for people
  Topology topology;
  Trace trace;
  std::uint32_t agents = 1;
  std::uint64_t seed = 1;
  SpeedChoice speed = {};  ///< what agents ask; the world has physics of its own
  double load = 0;         ///< offered; for the order of a curriculum
  AblationMask mask = {};  ///< of a net; rules see everything
};

/// A Chooser of runs under a net, which may also ask the net what it observed.
class NetChooser : public Chooser {
 public:
  /// Before the run, which the net lasts for.
  void attach(LearnedScorer& net) noexcept { net_ = &net; }

 protected:
  [[nodiscard]] LearnedScorer& net() const noexcept { return *net_; }

 private:
  LearnedScorer* net_ = nullptr;
};

/// One for each agent of the run; null: the net decides alone.
using ChooserOf = std::function<NetChooser*(AgentId)>;

/// The learned policy with those weights, whose decisions `chooser` makes if there is one. An error
/// of the weights.
[[nodiscard]] Result<std::unique_ptr<Policy>> make_net_policy(const LearnedSystem& system,
                                                              const Weights& weights,
                                                              const AblationMask& mask = {},
                                                              NetChooser* chooser = nullptr);
/// Simulates the scenario under a learned policy with those weights, durations unknown to it. An
/// error of the weights, or of the simulation.
[[nodiscard]] Result<RunResult> run_scenario(const LearnedSystem& system, const Scenario& scenario,
                                             const Weights& weights,
                                             const ChooserOf& choosers = {});
/// The same under any policy of the registry that agents have.
[[nodiscard]] Result<RunResult> run_rule(const Scenario& scenario, const std::string& policy);

/// Calls work(i) for i below `count` on so many threads; the calls' order is not given.
void for_each_on(std::uint32_t threads, std::size_t count,
                 const std::function<void(std::size_t)>& work);

}  // namespace starling
