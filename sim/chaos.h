#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policies/registry.h"
#include "sim/world.h"

namespace starling {

struct ChaosOptions {
  std::uint64_t first_seed = 1;
  std::uint32_t seeds = 100;
  Duration faults_last = std::chrono::minutes(10);  ///< of virtual time; then all is healed
  std::string policy;                               ///< NAME[:key=value,..]; empty: drawn per seed
  /// Scripted half way through the faults of every seed: a bug that has to be found.
  std::function<void(World&)> plant;
  std::function<void(std::uint64_t seed)> begins;  ///< called before each seed
};

/// What was wrong: a rule of the checker (S1 to S9), a liveness rule (L1, L3, L5, L7) or "stopped"
/// for a node that ended by itself.
struct ChaosFailure {
  std::uint64_t seed = 0;
  std::string rule;
  double at_s = 0;
  std::string message;
};

/// Number of faults by kind, in order of name. Lost, repeated and overtaking frames are counted
/// one by one, everything else per fault.
using FaultCounts = std::map<std::string, std::uint64_t>;

/// One seed.
struct ChaosRun {
  std::string policy;
  std::uint32_t agents = 0, executors = 0, gpus = 0, jobs = 0, finished = 0;
  double simulated_s = 0;
  std::uint64_t events = 0, trace_hash = 0;
  FaultCounts faults;
  std::optional<ChaosFailure> failure;
};

/// All seeds, in their order.
struct ChaosReport {
  std::uint64_t seeds = 0, failures = 0, jobs = 0, finished = 0, events = 0;
  double simulated_hours = 0;
  FaultCounts faults;
  std::map<std::string, std::uint64_t> policies;  ///< seeds by policy
  std::vector<ChaosFailure> first;                ///< at most ten failures
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
