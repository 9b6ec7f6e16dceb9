// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/chaos.h"

#include <memory>
#include <utility>

#include "base/marks.h"
#include "sim/chaos/chaos_demo.h"
#include "sim/chaos/chaos_faults.h"
#include "sim/chaos/chaos_input.h"
#include "sim/chaos/play.h"

namespace starling {
namespace {

enum Salt : std::uint64_t { kInputSalt = 1, kFaultSalt = 2 };
constexpr std::size_t kFailuresKept = 10;

Result<ChaosRun> run_once(std::uint64_t seed, const PolicyRegistry& policies,
                          const ChaosOptions& options) {
  Mark::reset();
  const Rng rng(seed);
  std::unique_ptr<ChaosFaults> faults;
  const auto draw_faults = [&](std::uint32_t agents, std::uint32_t executors) -> ChaosFaults& {
    faults = std::make_unique<ChaosFaults>(agents, executors, options.faults_last,
                                           rng.fork(kFaultSalt), options.without, options.only);
    return *faults;
  };
  auto drawn = draw_chaos_input(seed, policies, options, rng.fork(kInputSalt), draw_faults);
  if (!drawn) return drawn.error();
  const ChaosInput& input = drawn.value();
  auto made = World::make(input.topology, input.trace, policies, input.sim);
  if (!made) return made.error();
  World& world = *made.value();
  STARLING_CHECK(world.executors() == input.sim.agents * input.executors_each);
  world.network().count_kinds();
  faults->plan(world, input.wrong);
  if (options.demo) plant_demo(world);
  if (options.plant) world.at(Instant(options.faults_last / 2), options.plant);

  ChaosRun run = play_chaos(seed, input, world, *faults);
  if (options.recorder != nullptr) options.recorder->over(world.now(), world.result());
  return run;
}

}  // namespace

void ChaosReport::add(const ChaosRun& run) {
  ++seeds;
  jobs += run.jobs;
  finished += run.finished;
  cancelled += run.cancelled;
  refused += run.refused;
  failed += run.failed;
  never_taken += run.never_taken;
  events += run.events;
  twice += run.twice ? 1 : 0;
  simulated_hours += run.simulated_s / 3600;
  ++policies[run.policy];
  for (const auto& [kind, count] : run.faults) faults[kind] += count;
  for (const auto& [fate, counts] : run.fates) {
    for (const auto& [kind, count] : counts) fates[fate][kind] += count;
  }
  for (const auto& [mark, count] : run.marks) marks[mark] += count;
  for (const auto& [what, took] : run.times)
    times[what].insert(times[what].end(), took.begin(), took.end());
  verdicts.push_back({run.seed, run.policy, run.failure ? run.failure->rule : "", run.simulated_s});
  if (!run.failure) return;
  ++failures;
  if (first.size() < kFailuresKept) first.push_back(*run.failure);
}

Result<ChaosRun> run_chaos_seed(std::uint64_t seed, const PolicyRegistry& policies,
                                const ChaosOptions& options) {
  return play_twice(seed, options.twice_every, [&] { return run_once(seed, policies, options); });
}

Result<ChaosReport> run_chaos(const PolicyRegistry& policies, const ChaosOptions& options) {
  ChaosReport report;
  for (std::uint64_t seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
    auto run = run_chaos_seed(seed, policies, options);
    if (!run) return run.error();
    report.add(run.value());
  }
  return report;
}

}  // namespace starling
