// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/chaos/seed_runs.h"

#include <map>
#include <utility>

#include "launch/command_line/seed_pool.h"
#include "launch/runs/chaos_run_json.h"

namespace starling {

Status SeedRuns::each(const std::function<void(ChaosRun run, double wall_s)>& take) const {
  SeedPool pool;
  pool.processes = processes;
  pool.work = [&](std::uint64_t seed) { return to_text(run(seed)); };
  pool.done = [&](std::uint64_t, const std::string& text, double wall_s) {
    take(chaos_run_of(text), wall_s);
  };
  pool.died = [&](std::uint64_t seed, const std::string& how, double wall_s) {
    ChaosRun aborted;
    aborted.seed = seed;
    aborted.failure = ChaosFailure{seed, "abort", 0, "the program " + how};
    take(std::move(aborted), wall_s);
  };
  pool.waits = wait;
  return pool.run(first, count);
}

Status SeedRuns::in_order(
    const std::function<void(const ChaosRun& run, double wall_s)>& take) const {
  std::map<std::uint64_t, std::pair<ChaosRun, double>> waiting;  // ended before an earlier one has
  std::uint64_t next = first;
  return each([&](ChaosRun result, double wall_s) {
    const std::uint64_t seed = result.seed;
    waiting.emplace(seed, std::pair(std::move(result), wall_s));
    for (auto at = waiting.find(next); at != waiting.end(); at = waiting.find(++next)) {
      take(at->second.first, at->second.second);
      waiting.erase(at);
    }
  });
}

}  // namespace starling
