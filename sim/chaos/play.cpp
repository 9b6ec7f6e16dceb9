// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/play.h"

#include "base/marks.h"
#include "bus/wire/roles.h"
#include "sim/chaos/chaos_phases.h"

namespace starling {
namespace {

FaultCounts named(const FrameFates::ByKind& fate) {
  FaultCounts counts;
  for (std::size_t kind = 0; kind < fate.size(); ++kind) {
    if (fate[kind] > 0) counts[kind_name(kind)] = fate[kind];
  }
  return counts;
}

/// By what their users were told; of jobs that no client followed, by what is durable.
void count_jobs(const World& world, ChaosRun& run) {
  for (const Users::WantedJob& wanted : world.users().wanted()) {
    const JobId id = wanted.spec.id;
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

}  // namespace

void count_frames(World& world, FaultCounts& counts) {
  const auto note = [&counts](const char* kind, std::uint64_t n) {
    if (n > 0) counts[kind] += n;
  };
  const Network& network = world.network();
  note("frames lost", network.lost());
  note("frames repeated", network.repeated());
  note("frames overtaking", network.overtaken());
  note("frames corrupted", network.corrupted());
  note("frames over a full queue", network.overflowed());
  note("frames untrue", network.lies());
  note("frames of an old key", world.unheard());
}

void mend_manners(World& world, const Manners& had) {
  Manners kind;
  kind.seed = had.seed;
  kind.fails = had.fails;
  world.hardware().set_manners(kind);
}

void undo_drains(World& world, const std::set<ServerId>& drained) {
  // An owner that has just come back may not hear the first word.
  for (const double later_s : {1.0, 10.0, 30.0}) {
    world.at(world.now() + from_seconds(later_s), [&drained](World& w) {
      for (const ServerId server : drained) w.drain(server, false);
    });
  }
}

ChaosRun play_chaos(std::uint64_t seed, const ChaosInput& input, World& world,
                    FaultScript& faults) {
  ChaosPhases phases(seed, input, world, faults);
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
  run.faults = faults.counts(world);
  run.active = faults.active();
  run.marks = Mark::all();
  const FrameFates& fates = world.network().fates();
  run.fates["lost"] = named(fates.lost);
  run.fates["repeated"] = named(fates.repeated);
  run.fates["overtaken"] = named(fates.overtaken);
  run.fates["corrupted"] = named(fates.corrupted);
  return run;
}

Result<ChaosRun> play_twice(std::uint64_t seed, std::uint32_t every,
                            const std::function<Result<ChaosRun>()>& once) {
  auto run = once();
  if (!run || every == 0 || seed % every != 0) return run;
  const auto again = once();
  ChaosRun& one = run.value();
  one.twice = true;
  if (!one.failure && again.value().trace_hash != one.trace_hash) {
    one.failure = ChaosFailure{seed, "S12", one.simulated_s, "a second run did something else"};
  }
  return run;
}

}  // namespace starling
