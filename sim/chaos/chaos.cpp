// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/chaos.h"

#include <memory>
#include <utility>

#include "base/marks.h"
#include "bus/wire/roles.h"
#include "sim/chaos/chaos_demo.h"
#include "sim/chaos/chaos_faults.h"
#include "sim/chaos/chaos_input.h"
#include "sim/chaos/chaos_phases.h"

namespace starling {
namespace {

enum Salt : std::uint64_t { kInputSalt = 1, kFaultSalt = 2 };
constexpr std::size_t kFailuresKept = 10;

FaultCounts named(const FrameFates::ByKind& fate) {
  FaultCounts counts;
  for (std::size_t kind = 0; kind < fate.size(); ++kind) {
    if (fate[kind] > 0) counts[kind_name(kind)] = fate[kind];
  }
  return counts;
}

/// By what their users were told; of jobs that nobody followed, by what is durable.
void count_jobs(const World& world, ChaosRun& run) {
  for (const Users::Wish& wish : world.users().wishes()) {
    const JobId id = wish.spec.id;
    const JobOutcome& told = *world.users().find(id);
    const JobPhase end =
        told.over() ? told.state.phase : world.end_of(id).value_or(JobPhase::unknown);
    ++run.jobs;
    if (told.rejected) {
      ++run.refused;
    } else if (end == JobPhase::finished) {
      ++run.finished;
    } else if (end == JobPhase::failed) {
      ++run.failed;
    } else if (end == JobPhase::cancelled) {
      ++run.cancelled;
    } else if (!world.accepted(id)) {
      ++run.never_taken;
    }
  }
}

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

  ChaosPhases phases(seed, input, world, *faults);
  ChaosRun run;
  run.seed = seed;
  run.failure = phases.run();
  run.times = phases.times();
  const RunResult result = world.result();
  run.policy = input.sim.policy;
  run.agents = input.sim.agents;
  run.executors = world.executors();
  run.gpus = input.topology.gpu_count();
  count_jobs(world, run);
  run.simulated_s = seconds(world.now().time_since_epoch());
  run.events = result.events;
  run.trace_hash = result.trace_hash;
  run.faults = faults->counts(world);
  run.active = faults->active();
  run.marks = Mark::all();
  const FrameFates& fates = world.network().fates();
  run.fates["lost"] = named(fates.lost);
  run.fates["repeated"] = named(fates.repeated);
  run.fates["overtaken"] = named(fates.overtaken);
  run.fates["corrupted"] = named(fates.corrupted);
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
  if (!run.failure) return;
  ++failures;
  if (first.size() < kFailuresKept) first.push_back(*run.failure);
}

Result<ChaosRun> run_chaos_seed(std::uint64_t seed, const PolicyRegistry& policies,
                                const ChaosOptions& options) {
  auto run = run_once(seed, policies, options);
  if (!run || options.twice_every == 0 || seed % options.twice_every != 0) return run;
  const auto again = run_once(seed, policies, options);
  ChaosRun& one = run.value();
  one.twice = true;
  if (!one.failure && again.value().trace_hash != one.trace_hash) {
    one.failure = ChaosFailure{seed, "S12", one.simulated_s, "a second run did something else"};
  }
  return run;
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
