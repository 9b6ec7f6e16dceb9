// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "launch/chaos/flock/live_flock.h"
#include "launch/chaos/scenario/plan.h"

namespace starling::chaos_live {

/// One fault that happened, or could not.
struct FaultRecord {
  double at = 0, until = 0;  ///< seconds from the start
  LiveFaultKind kind = LiveFaultKind::kill;
  std::string whom;
  bool skipped = false;  ///< nothing was there to be hit, or the machine cannot do it
};

/// Lets the faults of a scenario happen to a flock, and takes them back when they are over.
class Injector {
 public:
  struct Hooks {
    /// The agent that is home of most unfinished jobs; an executor on which a job runs.
    std::function<std::uint32_t()> home_of_a_job, busy_executor;
    /// An agent's process was killed, frozen or told to end.
    std::function<void(std::uint32_t agent, LiveFaultKind kind)> agent_hit;
    /// An executor's server is to be drained, or in use again.
    std::function<void(std::uint32_t executor, bool drained, bool evict)> drain;
  };

  /// `scenario` and `flock` outlive it. Times are seconds; `began` is the start of the run.
  Injector(const ChaosScenario& scenario, LiveFlock& flock, double began, Hooks hooks);
  ~Injector();
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;

  void step(double now);
  /// Takes everything back and injects nothing more.
  void heal(double now);
  [[nodiscard]] double load_factor() const { return storm_; }
  [[nodiscard]] const std::vector<FaultRecord>& history() const noexcept { return history_; }
  /// Faults other than storms that last now.
  [[nodiscard]] std::size_t lasting() const noexcept;
  /// Kinds that this machine cannot do, and why.
  [[nodiscard]] const std::map<std::string, std::string>& impossible() const noexcept {
    return impossible_;
  }

 private:
  using Process = LiveFlock::Process;
  using Processes = std::vector<Process*>;
  struct Lasting {
    double until = 0;
    LiveFaultKind kind = LiveFaultKind::kill;
    std::function<void(double now)> undo;
  };
  struct Garbage {
    Process* whom = nullptr;
    double per_s = 0, due = 0;
  };

  void inject(const PlannedFault& planned, double now);
  /// What is to be undone; nothing if nothing was hit.
  bool apply(const FaultSpec& spec, const PlannedFault& planned, const Processes& first,
             const Processes& second, double now, Rng& rng);
  [[nodiscard]] Processes resolve(const FaultTarget& target, bool up, Rng& rng);
  bool links(const FaultSpec& spec, const PlannedFault& planned, const Processes& first,
             const Processes& second, bool paired, double now);
  void swizzle(const Process& whom, double lasts, double now, Rng& rng);
  /// Of a rack's network namespace to all others.
  void uplink(std::uint32_t rack, const FaultSpec& spec, double until);
  void disk(Process& p, const FaultSpec& spec, double until);
  /// What befalls one machine: memory, clock, GPUs, version, drains, its file system, all of it.
  void machine(Process& p, const FaultSpec& spec, double now, double until, Rng& rng);
  void throw_garbage(double now);
  void later(double until, LiveFaultKind kind, std::function<void(double)> undo);
  [[nodiscard]] std::string cannot(LiveFaultKind kind) const;

  const ChaosScenario& scenario_;
  LiveFlock& flock_;
  double began_;
  Hooks hooks_;
  std::vector<PlannedFault> plan_;
  std::size_t next_ = 0;
  std::vector<Lasting> lasting_;
  std::vector<std::pair<double, std::function<void()>>> steps_;  // of swizzles
  std::vector<Garbage> garbage_;
  std::vector<int> strangers_;  // their sockets
  Rng noise_;
  double storm_ = 1;
  std::vector<FaultRecord> history_;
  std::map<std::string, std::string> impossible_;
};

}  // namespace starling::chaos_live
