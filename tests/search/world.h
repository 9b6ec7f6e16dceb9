// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/agent/agent.h"
#include "agents/executor/executor.h"
#include "interference/speed.h"
#include "sim/check/checker.h"
#include "topology/topology.h"

namespace starling::search {

/// What may go wrong on one path, at most.
struct Faults {
  std::uint32_t all = 2;       ///< of those below together; each kind at most once but for repeats
  std::uint32_t timeouts = 3;  ///< clocks that run out although nothing else had to wait for them
};

/// Two partitions of one GPU each, and what both searches and their worlds share.
struct Setting {
  /// `gangs`: jobs over both partitions, job n at home n - 1; the other of the two needs one GPU.
  /// `canary`: a stopped process is said to be gone while it still runs, a bug to be found.
  Setting(std::uint32_t gangs, Faults faults, bool canary);

  Topology topology;
  std::unique_ptr<SpeedModel> speed;
  std::array<AgentConfig, 2> agents;
  std::array<ExecutorConfig, 2> executors;
  std::vector<JobSpec> jobs;  ///< job n is submitted to agent n - 1
  Faults faults;
  bool canary;
};

/// One thing that can happen next.
struct Action {
  enum class Kind : std::uint8_t {
    deliver,         ///< a frame arrives and is gone; `what`: its hash
    repeat,          ///< it arrives and stays
    stray,           ///< it arrives, at the deposed owner only, and stays
    timeout,         ///< the next deadline of a node; `node`
    end,             ///< a process that may; `what`: its index
    fail,            ///< a process by itself, with code 1
    crash_agent,     ///< and back from its journal
    take_over,       ///< of an agent's partition; the old owner does not know
    crash_executor,  ///< and back from its journal; processes live on
    crash_machine    ///< and back; its processes are gone
  };
  Kind kind = Kind::deliver;
  std::uint32_t node = 0;  ///< of agents, then executors, then the deposed owner
  std::uint64_t what = 0;
};

/// The real cores of two agents and two executors, the frames under way as a set of bytes, and the
/// processes. Nothing happens by itself: every step is an Action. A copy is a second world.
///
/// Digests are not carried (they are hints), clocks move only by timeouts, and no heartbeat runs.
class SmallWorld {
 public:
  explicit SmallWorld(const Setting& setting);
  SmallWorld(const SmallWorld& other);
  SmallWorld(SmallWorld&&) = default;
  SmallWorld& operator=(SmallWorld&&) = default;

  /// In a fixed order.
  [[nodiscard]] std::vector<Action> actions() const;
  void apply(const Action& action);
  [[nodiscard]] std::string describe(const Action& action) const;
  /// Equal for worlds that go on alike but for the length of their timers.
  [[nodiscard]] std::uint64_t fingerprint() const;

  /// What a fair world does next: frames first, then ends of processes, then clocks. None: at rest.
  [[nodiscard]] std::optional<Action> fair() const;
  /// From now on nothing goes wrong; a deposed owner learns of it, frames under way may be lost.
  void heal(bool lose_frames);
  /// Every accepted job has ended, and nothing is held or runs.
  [[nodiscard]] bool settled() const;
  /// What is left, in words.
  [[nodiscard]] std::string leftovers() const;
  [[nodiscard]] Duration age() const noexcept { return now_.time_since_epoch(); }

  [[nodiscard]] const std::optional<std::string>& violation() const noexcept;

 private:
  struct Frame;
  struct AgentSlot {
    Incarnation incarnation;
    Epoch epoch;
    std::optional<Agent> core;
    std::vector<std::shared_ptr<const Record>> journal;
    std::uint64_t journal_hash = 0;
    bool fenced = false;  ///< writes are refused: it ends at the first
    std::array<Incarnation, 4> seen{};
  };
  struct ExecutorSlot {
    Incarnation incarnation;
    std::optional<Executor> core;
    std::vector<std::shared_ptr<const Record>> journal;
    std::uint64_t journal_hash = 0;
    std::array<Incarnation, 4> seen{};
  };
  struct Process {
    AttemptId attempt;
    ServerId server;
    std::uint32_t executor = 0;
    Placement gpus;
    bool stopping = false;  ///< told to end
    bool whole = false;     ///< all of its gang had started, so its work can come to an end
    bool reported = false;  ///< only as a canary: said to be gone
  };

  static AgentSlot copy(const AgentSlot& slot);
  static ExecutorSlot copy(const ExecutorSlot& slot);
  void start_agent(std::uint32_t a);
  void start_executor(std::uint32_t e);
  [[nodiscard]] Instant deadline(std::uint32_t node) const;
  void step(std::uint32_t node, const ExecutorEvent& event);
  void step_agent(AgentSlot& slot, std::uint32_t a, const Event& event);
  void step_executor(std::uint32_t e, const ExecutorEvent& event);
  void post(NodeId from, Incarnation incarnation, const Send& send);
  void arrive(std::uint32_t node, const Frame& frame);
  void deliver(const Frame& frame, bool deposed_too);
  void run(std::uint32_t e, const RunCommand& command);
  void end(std::size_t process, std::int32_t code);
  void note_whole();
  void tick_due(std::uint32_t node);
  void look();
  void fail(const std::string& what);
  [[nodiscard]] const Frame& frame(std::uint64_t hash) const;

  const Setting* setting_;
  Instant now_{};
  std::array<AgentSlot, 2> agents_;
  std::array<ExecutorSlot, 2> executors_;
  std::optional<AgentSlot> deposed_;
  std::uint32_t deposed_agent_ = 0;
  std::vector<std::shared_ptr<const Frame>> frames_;  // ascending by hash, no two alike
  std::vector<Process> processes_;                    // by attempt, then server
  std::vector<JobId> accepted_;                       // ascending
  std::uint32_t faults_left_, timeouts_left_;
  std::uint32_t used_ = 0;  // kinds of faults that were, as bits
  Checker checker_;
  std::optional<std::string> failed_;
};

/// Hashes of what decides how a core goes on: ids, stages and flags, and the order of its timers in
/// place of their instants.
[[nodiscard]] std::uint64_t fingerprint(const AgentState& state, Instant now);
[[nodiscard]] std::uint64_t fingerprint(const ExecutorState& state);
/// Kind and ids of a record, without the times in it.
[[nodiscard]] std::uint64_t fingerprint(const Record& record);

}  // namespace starling::search
