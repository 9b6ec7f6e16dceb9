// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "agents/config.h"
#include "agents/output.h"
#include "topology/topology.h"

namespace starling {

/// One process to start: the ranks of a gang that live on one server.
struct LaunchSpec {
  AttemptId attempt;
  ServerId server;
  Placement gpus;                ///< on that server, ascending
  std::uint32_t first_rank = 0;  ///< of the workers here
  std::uint32_t local_workers = 1;
  JobSpec spec;
  std::vector<Share> gang;  ///< the whole gang, for world size and rates
  Duration served{0};       ///< by earlier attempts: where to resume
  Instant until = kNever;   ///< it may live so long, unless renew() says more
  Duration grace{0};        ///< between its polite end then and the forceful one
  Allocation allocation = {};
};
/// How a started process ended, or that it could not start (code 127).
struct Exit {
  AttemptId attempt;
  ServerId server;
  ExitStatus exit;
  Duration served{0};  ///< service received in this attempt
};

/// The GPUs that must not be used now, each list ascending. `gpus` are not to be trusted, and are
/// to be well for Timers::gpu_quiet before they are used again; of `in_use` something of an earlier
/// life has not let go yet, and they are as good as before from then on.
struct SickGpus {
  Placement gpus;
  Placement in_use = {};
  friend bool operator==(const SickGpus&, const SickGpus&) = default;
};

/// Starts and stops processes on this executor's servers. Real: a guardian process for each part.
/// Emulated: a timer. Simulated: the world's event queue. Not thread-safe; every call returns at
/// once.
///
/// A dead man's switch: what is not renewed ends at its deadline, on a clock of the machine that
/// counts suspended time, whatever the executor does meanwhile (it hangs, is stopped, is dead), and
/// comes out of reap() as lost.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// Repeating a start of the same attempt and server changes nothing.
  virtual Status start(const LaunchSpec& spec) = 0;
  /// Ends all processes of the attempt: politely, after `grace` by force; children too. Ends show
  /// up in reap().
  virtual void stop(AttemptId attempt, Duration grace) = 0;
  /// All parts of the attempt may live until `until`, earlier or later than what was said before.
  /// Cheap; what is not known or is being stopped is left alone.
  virtual void renew(AttemptId attempt, Instant until) = 0;
  /// All processes of the attempt get this signal, where there are real ones.
  virtual void signal(AttemptId, std::uint32_t /*number*/) {}
  /// What ran under an earlier life of the executor, told once before anything else. What still
  /// runs goes on, with the deadline that it had; what has ended meanwhile, or was not kept alive,
  /// comes out of reap(). Default: all of it was kept.
  virtual void adopt(std::span<const LaunchSpec>) {}
  /// Everything that ended since the last call.
  virtual std::vector<Exit> reap() = 0;
  /// How far everything that runs has come, to be handed to the executor once per heartbeat; empty
  /// where nothing is measured.
  [[nodiscard]] virtual std::vector<Progress> measure() { return {}; }
  /// The GPUs of this executor that must not be used now, if they are others than at the last call.
  /// Asked at every cycle, so it looks at slow sources now and then only. Default: all are well.
  [[nodiscard]] virtual std::optional<SickGpus> health_news() { return std::nullopt; }
  /// A page of what an attempt has printed on a server, now or before.
  [[nodiscard]] virtual OutputPage read_output(const ReadOutput& read) const {
    OutputPage page = page_for(read);
    page.trouble = "its executor keeps no output";
    return page;
  }
  /// An empty one that answers `read`.
  [[nodiscard]] static OutputPage page_for(const ReadOutput& read) {
    return {read.attempt, read.server, read.client, read.file, read.offset};
  }
  /// When reap() is next worth calling; kNever if an end announces itself.
  [[nodiscard]] virtual Instant next_deadline() const noexcept { return kNever; }
};

// clang-format off
struct StopSpec { AttemptId attempt; Duration grace{0}; };
struct RenewSpec { AttemptId attempt; Instant until; };
struct SignalSpec { AttemptId attempt; std::uint32_t number = 0; };
// clang-format on
using RunCommand = std::variant<LaunchSpec, StopSpec, RenewSpec, SignalSpec>;
/// Progress: what the Launcher measured.
using ExecutorEvent = std::variant<Tick, Received, Exit, Progress, SickGpus>;
struct ExecutorOutput : Output {
  std::vector<RunCommand> run;  ///< after persist and send
  /// For Launcher::read_output(), whose pages go to the owner; at most kMostReads.
  std::vector<ReadOutput> read;
  static constexpr std::size_t kMostReads = 16;
  void clear() { Output::clear(), run.clear(), read.clear(); }
};

struct ExecutorState;

/// Runs what its partition's owner says, and is the fence: it persists the highest epoch it saw,
/// ignores lower ones for ever, and refuses a GPU that is busy. Pure, like Agent. It obeys its
/// partition's owner alone; a refused launch is refused for good, so a latecomer cannot bring it
/// back.
class Executor {
 public:
  /// `recovered`: the journal of earlier lives. What ran then counts as running until its Exit
  /// comes: see Launcher::adopt(), which gets running(). `topology` outlives it.
  Executor(ExecutorConfig config, const Topology& topology, std::span<const Record> recovered);
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  void step(Instant now, const ExecutorEvent& event, ExecutorOutput& out);
  [[nodiscard]] Instant next_deadline() const noexcept;
  [[nodiscard]] const ExecutorConfig& config() const noexcept;
  [[nodiscard]] const ExecutorState& state() const noexcept;
  /// The parts that are believed to run, by attempt, then server.
  [[nodiscard]] std::vector<LaunchSpec> running() const;
  /// Records that replay to the same durable state, for Journal::compact.
  [[nodiscard]] std::vector<Record> snapshot() const;
  /// A second executor in the same state, for searches over all that could happen next.
  [[nodiscard]] Executor clone() const;

 private:
  explicit Executor(std::unique_ptr<ExecutorState> state);
  std::unique_ptr<ExecutorState> state_;
};

}  // namespace starling
