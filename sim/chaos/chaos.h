// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policies/registry.h"
#include "sim/world/world.h"

namespace starling {

struct ChaosOptions {
  std::uint64_t first_seed = 1;
  std::uint32_t seeds = 100;
  Duration faults_last = std::chrono::minutes(10);  ///< of virtual time; then all is healed
  std::string policy;                               ///< NAME[:key=value,..]; empty: drawn per seed
  std::set<std::string> without;                    ///< kinds of faults, or numbers ("F13")
  std::set<std::string> only;  ///< these happen in every seed, and no others; empty: drawn per seed
  bool demo = false;           ///< with a mistake to practise on: chaos_demo.h
  // Of every seed; 0: drawn.
  std::uint32_t agents = 0, executors_each = 0, jobs = 0;
  /// Every so many seeds one is run twice, and both runs must do the same (S12); 0: none.
  std::uint32_t twice_every = 50;
  RunRecorder* recorder = nullptr;  ///< is told of the last seed; null: none
  /// Scripted half way through the faults of every seed: a bug that has to be found.
  std::function<void(World&)> plant;
};

/// What was wrong: a rule of the checker (S1 to S15), a liveness rule (L1 to L7), a time that was
/// too long (G2, G7), or "stopped" for a node that ended by itself.
struct ChaosFailure {
  std::uint64_t seed = 0;
  std::string rule;
  double at_s = 0;
  std::string message;
};

/// Number of faults by kind, in order of name. Frames are counted one by one, everything else per
/// fault.
using FaultCounts = std::map<std::string, std::uint64_t>;

/// How long something took, in seconds; by what was timed.
using ChaosTimes = std::map<std::string, std::vector<double>>;

/// One seed.
struct ChaosRun {
  std::uint64_t seed = 0;
  std::string policy;
  std::uint32_t agents = 0, executors = 0, gpus = 0, jobs = 0;
  std::uint32_t finished = 0, cancelled = 0, refused = 0, failed = 0;
  std::uint32_t never_taken = 0;  ///< no home has them, and their client is dead
  double simulated_s = 0;
  std::uint64_t events = 0, trace_hash = 0;
  bool twice = false;
  FaultCounts faults;
  std::map<std::string, FaultCounts> fates;  ///< lost, repeated, ..: by kind of message
  std::vector<std::string> active;           ///< kinds of faults that were on
  FaultCounts marks;                         ///< passes of every mark of the program (base/marks.h)
  ChaosTimes times;
  std::optional<ChaosFailure> failure;
};

/// All seeds, in their order.
struct ChaosReport {
  std::string scenario = {};               ///< that they play; empty: all is drawn
  std::vector<std::string> left_out = {};  ///< of it, each with why
  std::uint64_t seeds = 0, failures = 0, jobs = 0, events = 0, twice = 0;
  std::uint64_t finished = 0, cancelled = 0, refused = 0, failed = 0, never_taken = 0;
  double simulated_hours = 0;
  FaultCounts faults;
  std::map<std::string, FaultCounts> fates;
  std::map<std::string, std::uint64_t> policies;  ///< seeds by policy
  FaultCounts marks;
  ChaosTimes times;
  std::vector<ChaosFailure> first;  ///< at most ten failures
  struct Verdict {
    std::uint64_t seed = 0;
    std::string policy, rule;  ///< that was broken; empty: none
    double simulated_s = 0;
  };
  std::vector<Verdict> verdicts;  ///< of each seed
  void add(const ChaosRun& run);
};

/// A small data centre, a crowd of gangs, a policy and a mix of faults, all drawn from `seed`; then
/// everything is healed, and what was accepted has to end and be cleaned up. The checker looks at
/// every event. Pure: equal arguments give equal runs. `invalid`, `not_found`: a bad policy.
[[nodiscard]] Result<ChaosRun> run_chaos_seed(std::uint64_t seed, const PolicyRegistry& policies,
                                              const ChaosOptions& options);

[[nodiscard]] Result<ChaosReport> run_chaos(const PolicyRegistry& policies,
                                            const ChaosOptions& options);

}  // namespace starling
