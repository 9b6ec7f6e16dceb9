// SPDX-License-Identifier: Apache-2.0
// Faults of one machine: GPUs, version, wall clock, file system, memory, all of it.
#include <algorithm>

#include "launch/chaos/flock/injector.h"

namespace starling::chaos_live {

void Injector::machine(Process& p, const FaultSpec& spec, double now, double until, Rng& rng) {
  switch (spec.kind) {
    case LiveFaultKind::drain:
      hooks_.drain(p.number, true, spec.value("evict", 0) > 0);
      later(until, spec.kind, [this, &p](double) { hooks_.drain(p.number, false, false); });
      return;
    case LiveFaultKind::bad_gpu: {
      const DeployedNode* node = flock_.deployment().find(p.name);
      const IndexRange gpus = flock_.topology().server(ServerId{node->servers.first}).gpus;
      const std::uint32_t count = gpus.last - gpus.first;
      const std::uint32_t from = rng.below(count);
      std::vector<std::uint32_t> bad;
      for (std::uint32_t i = 0;
           i < std::min(count, static_cast<std::uint32_t>(spec.value("gpus", 1))); ++i)
        bad.push_back(gpus.first + (from + i) % count);
      p.sick.insert(p.sick.end(), bad.begin(), bad.end());
      flock_.set_health(p);
      later(until, spec.kind, [this, &p, bad](double) {
        for (const std::uint32_t gpu : bad)
          p.sick.erase(std::find(p.sick.begin(), p.sick.end(), gpu));
        flock_.set_health(p);
      });
      return;
    }
    case LiveFaultKind::version: {
      const auto restart = [this, &p](std::uint16_t protocol, double at) {
        p.protocol = protocol;
        if (p.pid == 0) return;
        if (p.role == LiveFlock::Role::agent) hooks_.agent_hit(p.number, LiveFaultKind::restart);
        flock_.terminate(p, at, at);
      };
      restart(kOldestProtocol, now);
      later(until, spec.kind, [restart](double at) { restart(kNewestProtocol, at); });
      return;
    }
    case LiveFaultKind::clock: {
      const double jump = spec.value("jump_s", 0) * (rng.chance(0.5) ? 1 : -1);
      const double rate = spec.value("rate", 1);
      p.clock_jump_s += jump;
      p.clock_rate *= rate;
      flock_.set_clock(p);
      later(until, spec.kind, [this, &p, jump, rate](double) {
        p.clock_jump_s -= jump;
        p.clock_rate /= rate;
        flock_.set_clock(p);
      });
      return;
    }
    case LiveFaultKind::fill_disk:
      p.disk_until = std::max(p.disk_until, until);
      flock_.fill_disk(p, true);
      later(until, spec.kind, [this, &p](double) { flock_.fill_disk(p, false); });
      return;
    case LiveFaultKind::memory_limit:
      p.memory_until = std::max(p.memory_until, until);
      flock_.limit_memory(p, spec.value("spare_mib", 0));
      later(until, spec.kind, [this, &p](double) { flock_.limit_memory(p, -1); });
      return;
    default:
      flock_.lose(p);
  }
}

}  // namespace starling::chaos_live
