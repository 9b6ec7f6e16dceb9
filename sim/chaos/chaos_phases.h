// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/chaos/chaos_input.h"
#include "sim/chaos/fault_script.h"

namespace starling {

/// One seed as it runs: faults, then all is well, and what has to happen then is waited for and
/// timed. Each part gives the first thing that is wrong.
class ChaosPhases {
 public:
  using Wrong = std::optional<ChaosFailure>;
  ChaosPhases(std::uint64_t seed, const ChaosInput& input, World& world, FaultScript& faults)
      : seed_(seed), input_(input), world_(world), faults_(faults) {}

  [[nodiscard]] Wrong run();
  [[nodiscard]] const ChaosTimes& times() const noexcept { return times_; }

 private:
  Wrong with_faults();
  Wrong to_the_end();  ///< L1
  Wrong settle();      ///< L3
  Wrong be_quiet();    ///< L2, L4, L7
  Wrong probe();       ///< G7, G2
  /// An executor of that agent's servers does not run.
  [[nodiscard]] bool any_away(AgentId owner) const;
  Wrong untrue();  ///< L5, L6
  [[nodiscard]] const JobState* remembered_end(const JobId& job) const;
  Wrong lose_state();  ///< S19, L8
  /// Ends those of `hopeless_` that are accepted, as `starling cancel` does: each is looked for at
  /// every agent, again and again. One whose client is slow is accepted long after the healing.
  void users_go_on();
  void release_held();
  void give_up(const JobId& job);
  void give_up_what_waits_in_vain();
  Wrong step(Instant until);
  /// So many times longer as the slowest timer.
  [[nodiscard]] Duration times(Duration usual) const;
  /// Steps until `is` or `latest`; a check that has no event of its own costs one a tenth of a
  /// second.
  Wrong until(Instant latest, const std::function<bool()>& is);
  /// Steps until `what` says nothing; what it still says at `latest` breaks the rule.
  Wrong until_nothing(const char* rule, Instant latest, const std::function<std::string()>& what);
  Wrong timed(const char* what, const char* rule, Instant since, double most_s, bool happened);
  [[nodiscard]] Wrong fail(const std::string& rule, const std::string& message) const;

  std::uint64_t seed_;
  const ChaosInput& input_;
  World& world_;
  FaultScript& faults_;
  std::vector<JobId> hopeless_;  ///< that can never start
  Instant everything_taken_ = kNever;
  Instant next_give_up_ = Instant::min();
  JobId largest_waiting_;  ///< at the healing
  bool some_waited_ = false;
  bool out_of_events_ = false;
  std::uint64_t events_ = 0;
  ChaosTimes times_;
};

}  // namespace starling
