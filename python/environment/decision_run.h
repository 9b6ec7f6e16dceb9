// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "gnn/marl/features.h"
#include "policies/registry.h"
#include "python/environment/fiber.h"
#include "sim/run/run_result.h"
#include "sim/simulate.h"

namespace starling {

class MarlScorer;
class World;

/// A decision that waits for its answer: an agent has a job that could start, go elsewhere or wait.
struct OpenDecision {
  AgentId agent;
  double now_s = 0;  ///< since the start of the run
  JobId job;
  std::span<const OptionKind> kinds;  ///< by option, two or more
  /// [options, Features::kRow], row by row; the first Features::kOwn of each row are Input's, and
  /// the rest, embeddings of a net that there is none of, is 0.
  std::span<const float> rows;
  std::optional<std::size_t> taught;  ///< what the teacher would do
};

/// A simulated run that stops at each decision of its agents' placement policy and goes on when it
/// is answered. The options, in their order, and what is told of them are those of the policy
/// `marl` (gnn/marl/marl_scorer.h): answers as a net's give the run of `marl` with its weights,
/// event for event. Decisions without a choice are taken by themselves; a gang that can be divided
/// among partitions is.
///
/// Deterministic: the same inputs and answers give the same run. One thread at a time.
class DecisionRun {
 public:
  enum class State : std::uint8_t {
    decision,  ///< open() waits for answer()
    pause,     ///< nothing; a good moment to look whether its caller wants it to end
    over       ///< result() is there
  };

  /// `sim.policy` is not read. `teacher`: a placement policy, NAME:key=value,..., which is asked
  /// what it would do, and which sees what the options are, not what they would be under it. Empty:
  /// none. `invalid` as simulate() and the registry say.
  [[nodiscard]] static Result<std::unique_ptr<DecisionRun>> make(Topology topology,
                                                                 std::shared_ptr<const Trace> trace,
                                                                 SimOptions sim,
                                                                 const PolicyRegistry& policies,
                                                                 const std::string& teacher);
  /// Also in the middle of a run, which ends there.
  ~DecisionRun();
  DecisionRun(const DecisionRun&) = delete;
  DecisionRun& operator=(const DecisionRun&) = delete;

  /// Goes on to what is next; a decision has been answered before. An error of the simulation,
  /// after which nothing is left to be done.
  [[nodiscard]] Result<State> advance();
  [[nodiscard]] const OpenDecision& open() const;
  /// Option number `option` of open().
  void answer(std::size_t option);

  /// Sum over jobs of the time that each has been in the system by now, h: by Little's law what all
  /// of them wait and run. Of a run that ended well it is the sum of the job completion times.
  [[nodiscard]] double job_hours() const;
  [[nodiscard]] double now_s() const;
  [[nodiscard]] std::uint64_t decisions() const noexcept { return decisions_; }
  /// Jobs that are in the system now.
  [[nodiscard]] std::uint64_t jobs_now() const noexcept { return came_ - over_; }
  [[nodiscard]] const RunResult& result() const;

 private:
  struct Abandoned {};
  class Asking;
  class Teacher;

  DecisionRun(Topology topology, std::shared_ptr<const Trace> trace, SimOptions sim);
  /// Null: it does not ask.
  [[nodiscard]] static std::unique_ptr<Policy> make_policy(Asking* asking);
  [[nodiscard]] Status prepare(const PolicyRegistry& policies, const std::string& teacher);
  /// On the fiber.
  void run();
  void count();
  [[nodiscard]] std::size_t ask(AgentId agent, const MarlScorer& scorer, const DecisionPoint& point,
                                Teacher* teacher);
  void stop_here(State why);

  Topology topology_;
  std::shared_ptr<const Trace> trace_;
  SimOptions sim_;
  PolicyRegistry registry_;
  std::vector<std::unique_ptr<Teacher>> teachers_;  // by agent; none: no teacher
  std::vector<std::unique_ptr<Asking>> askers_;     // by agent
  std::unique_ptr<World> world_;
  std::optional<Error> failed_;
  std::optional<RunResult> result_;
  State state_ = State::pause;
  OpenDecision open_;
  std::vector<OptionKind> kinds_;
  std::optional<std::size_t> answer_;
  std::uint64_t decisions_ = 0;
  std::uint64_t came_ = 0, over_ = 0;  // jobs
  double job_s_ = 0, counted_to_s_ = 0;
  bool abandoned_ = false;
  Fiber fiber_;  // the last member: it refers to all others
};

}  // namespace starling
