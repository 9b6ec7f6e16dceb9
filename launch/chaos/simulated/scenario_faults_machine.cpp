// SPDX-License-Identifier: Apache-2.0
// Disks, GPUs, clocks and servers of one machine.
#include <algorithm>

#include "launch/chaos/simulated/scenario_faults.h"

namespace starling::chaos_live {
namespace {

/// What a frame has on average: a link that passes so many bytes passes so many frames.
constexpr double kFrameBytes = 400;
/// Frames that wait before a slow link loses some.
constexpr std::size_t kRoom = 1000;

}  // namespace

void ScenarioFaults::machine(World& world, const FaultSpec& spec, NodeId node, double lasts_s,
                             Rng& rng) {
  switch (spec.kind) {
    case LiveFaultKind::disk_full:
    case LiveFaultKind::disk_error:
    case LiveFaultKind::slow_disk:
    case LiveFaultKind::fill_disk:
      return disk(world, spec, node, lasts_s);
    case LiveFaultKind::throttle: {
      const double frames = spec.value("bytes_per_s", 20'000) / kFrameBytes;
      world.read_slowly(node, static_cast<std::size_t>(std::max(1.0, frames)),
                        std::chrono::seconds(1), kRoom);
      return later(world, lasts_s, [node](World& w) { w.read_slowly(node, 0, Duration{0}, 0); });
    }
    case LiveFaultKind::drain: {
      const ServerId server{executor_of(node)};
      drained_.insert(server);
      world.drain(server, true, spec.value("evict", 0) > 0);
      return later(world, lasts_s, [server](World& w) { w.drain(server, false); });
    }
    case LiveFaultKind::bad_gpu: {
      const IndexRange gpus = world.topology().server(ServerId{executor_of(node)}).gpus;
      const std::uint32_t count = gpus.last - gpus.first, from = rng.below(count);
      const auto bad = std::min(count, static_cast<std::uint32_t>(spec.value("gpus", 1)));
      for (std::uint32_t i = 0; i < bad; ++i) {
        const GpuId gpu{gpus.first + (from + i) % count};
        world.hardware().set_sick(gpu, true);
        later(world, lasts_s, [gpu](World& w) { w.hardware().set_sick(gpu, false); });
      }
      return;
    }
    case LiveFaultKind::version:
      return change_version(world, node, lasts_s);
    case LiveFaultKind::clock: {
      // Executors read no wall clock; an owner reads it when a life begins.
      if (!is_agent(node)) return;
      const double jump_s = spec.value("jump_s", 0) + (spec.value("rate", 1) - 1) * lasts_s;
      world.set_calendar(agent_of(node), from_seconds(rng.chance(0.5) ? jump_s : -jump_s));
      return later(world, lasts_s,
                   [node](World& w) { w.set_calendar(agent_of(node), Duration{0}); });
    }
    case LiveFaultKind::lose:
      return lose(world, node);
    default:
      return;
  }
}

void ScenarioFaults::disk(World& world, const FaultSpec& spec, NodeId node, double lasts_s) {
  DiskFaults& faults = world.disk(node).faults();
  if (spec.kind == LiveFaultKind::disk_error && spec.once) {
    faults.fails_once = true;
    return;
  }
  if (spec.kind == LiveFaultKind::disk_error) faults.fails = true;
  if (spec.kind == LiveFaultKind::disk_full || spec.kind == LiveFaultKind::fill_disk)
    faults.room = 0;
  if (spec.kind == LiveFaultKind::slow_disk) {
    faults.slow_chance = 1;
    faults.slow_most = from_seconds(spec.value("sync_ms", 300) * 1e-3);
  }
  later(world, lasts_s, [node, kind = spec.kind](World& w) {
    DiskFaults& now = w.disk(node).faults();
    if (kind == LiveFaultKind::disk_error) now.fails = false;
    if (kind == LiveFaultKind::disk_full || kind == LiveFaultKind::fill_disk) now.room.reset();
    if (kind == LiveFaultKind::slow_disk) now.slow_chance = 0;
  });
}

}  // namespace starling::chaos_live
