// SPDX-License-Identifier: Apache-2.0
#include "agents/executor/executor_state.h"

#include <algorithm>
#include <set>
#include <string>

#include "agents/parts/gang_layout.h"
#include "base/check.h"
#include "base/planted.h"

namespace starling {
namespace {

/// Every GPU that it names is there, and those here are of `gpus`.
bool is_of(const Launch& launch, IndexRange gpus, const Topology& topology) {
  const auto ours = [&](GpuId gpu) { return gpus.contains(gpu.value); };
  const auto there = [&](GpuId gpu) { return gpu.value < topology.gpu_count(); };
  return std::ranges::all_of(launch.here, ours) &&
         std::ranges::all_of(launch.gang,
                             [&](const Share& s) { return std::ranges::all_of(s.gpus, there); });
}

IndexRange gpus_of(IndexRange servers, const Topology& topology) {
  return {topology.server(ServerId{servers.first}).gpus.first,
          topology.server(ServerId{servers.last - 1}).gpus.last};
}

}  // namespace

ExecutorState::ExecutorState(ExecutorConfig executor_config, const Topology& data_center)
    : config(std::move(executor_config)),
      topology(data_center),
      forgotten(config.limits.tombstones) {
  STARLING_CHECK(config.servers.size() > 0 && config.servers.last <= topology.server_count());
  gpus = gpus_of(config.servers, topology);
  tenants.assign(gpus.size(), 0);
  pings = config.incarnation.value << 32U;
}

void ExecutorState::mark(const Placement& placement, bool more) {
  for (const GpuId gpu : placement) {
    STARLING_CHECK(gpus.contains(gpu.value));
    std::uint8_t& count = tenants[gpu.value - gpus.first];
    STARLING_CHECK(more || count > 0);
    more ? ++count : --count;
  }
}

bool ExecutorState::any_full(const Placement& placement) const {
  return std::any_of(placement.begin(), placement.end(), [&](GpuId gpu) {
    return tenants[gpu.value - gpus.first] >= config.limits.jobs_per_gpu;
  });
}

Placement ExecutorState::sick_gpus() const {
  std::set<GpuId> all(in_use.begin(), in_use.end());
  for (const auto& [gpu, well] : sick) all.insert(gpu);
  return {all.begin(), all.end()};
}

void ExecutorState::forget(AttemptId attempt, Duration served, Instant now) {
  if (const auto run = runs.find(attempt); run != runs.end()) {
    if (run->second.phase == Run::Phase::exited) {
      --unheard;
    } else {
      mark(run->second.launch.here, false);
    }
    resends.move(attempt, run->second.resend, kNever);
    limits.move(attempt, run->second.limit, kNever);
    runs.erase(run);
  }
  if (!planted(Bug::executor_without_tombstones)) forgotten.add(attempt, {served, now, true});
}

void ExecutorState::replay(const Record& record) {
  if (const auto* life = std::get_if<LifeBegan>(&record)) {
    epoch = std::max(epoch, life->epoch);
  } else if (const auto* seen = std::get_if<EpochSeen>(&record)) {
    epoch = std::max(epoch, seen->epoch);
  } else if (const auto* launching = std::get_if<ProcessLaunching>(&record)) {
    // Of another topology: fits_journal() says so to those who ask.
    if (!is_of(launching->launch, gpus, topology)) return;
    Run run;
    run.launch = launching->launch;
    for (const LaunchSpec& part : parts_of(run.launch, topology))
      run.parts.push_back({part.server});
    const auto [at, fresh] = runs.emplace(run.launch.attempt, std::move(run));
    if (fresh) mark(at->second.launch.here, true);
  } else if (const auto* exited = std::get_if<ProcessExited>(&record)) {
    const auto at = runs.find(exited->attempt);
    if (at == runs.end() || at->second.phase == Run::Phase::exited) return;
    Run& run = at->second;
    mark(run.launch.here, false);
    ++unheard;
    run.phase = Run::Phase::exited;
    run.exit = exited->exit;
    run.served = exited->served;
    resends.move(exited->attempt, run.resend, Instant::min());
  } else if (const auto* stopping = std::get_if<ProcessStopping>(&record)) {
    const auto at = runs.find(stopping->attempt);
    if (at == runs.end() || at->second.phase == Run::Phase::exited) return;
    at->second.phase = Run::Phase::stopping;
    at->second.stands = true;
    at->second.exit = stopping->exit;
  } else if (const auto* wanted = std::get_if<ProcessWanted>(&record)) {
    const auto at = runs.find(wanted->attempt);
    if (at == runs.end()) return;
    at->second.wanted = wanted->at;
    if (wanted->by_home) at->second.token = kWordOfAnEarlierLife;
  } else if (const auto* over = std::get_if<ProcessForgotten>(&record)) {
    const auto at = runs.find(over->attempt);
    forget(over->attempt, at == runs.end() ? Duration{0} : at->second.served, Instant{});
  } else if (const auto* stone = std::get_if<TombstoneServed>(&record)) {
    forgotten.set_served(stone->attempt, stone->served);
  } else if (const auto* dropped = std::get_if<TombstonesDropped>(&record)) {
    forgotten.drop(dropped->attempts);
  }
}

Status fits_journal(const ExecutorConfig& config, const Topology& topology,
                    std::span<const Record> recovered) {
  if (config.servers.first >= config.servers.last) return {Errc::invalid, "it serves no server"};
  if (config.servers.last > topology.server_count()) {
    return {Errc::invalid, "it serves server " + std::to_string(config.servers.last - 1) +
                               ", and the topology has " + std::to_string(topology.server_count()) +
                               ", from 0 on; start it with the topology that it ran with"};
  }
  const IndexRange gpus = gpus_of(config.servers, topology);
  std::set<AttemptId> open, elsewhere;  // what is over may have run on servers that are gone
  std::uint64_t read = 0;
  for (const Record& record : recovered) {
    if (const auto* over = std::get_if<ProcessForgotten>(&record))
      open.erase(over->attempt), elsewhere.erase(over->attempt);
    if (const auto* topo = std::get_if<TopologyRead>(&record)) read = topo->fingerprint;
    const auto* launching = std::get_if<ProcessLaunching>(&record);
    if (launching == nullptr) continue;
    const Launch& launch = launching->launch;
    open.insert(launch.attempt);
    if (!is_of(launch, gpus, topology) || parts_of(launch, topology).empty())
      elsewhere.insert(launch.attempt);
  }
  if (!elsewhere.empty()) {
    return {Errc::invalid, "the journal has attempt " + to_string(*elsewhere.begin()) +
                               " on GPUs that this executor does not have in this topology; "
                               "start it with the topology that it ran with"};
  }
  if (read != 0 && config.topology != 0 && read != config.topology && !open.empty()) {
    return {Errc::invalid, "the journal has attempt " + to_string(*open.begin()) +
                               ", which was started with another topology; start it with that one, "
                               "and with the new one when nothing runs here"};
  }
  return done();
}

std::vector<LaunchSpec> parts_of(const Launch& launch, const Topology& topology) {
  std::vector<LaunchSpec> parts;
  auto next = launch.here.begin();
  for (GangPart& part : gang_layout(launch.gang, launch.spec.gpus_per_worker, topology)) {
    const auto size = static_cast<std::ptrdiff_t>(part.gpus.size());
    if (launch.here.end() - next < size || !std::equal(part.gpus.begin(), part.gpus.end(), next)) {
      continue;
    }
    next += size;
    parts.push_back({launch.attempt, part.server, std::move(part.gpus), part.first_rank,
                     part.workers, launch.spec, launch.gang, launch.served});
    parts.back().allocation = launch.allocation;
  }
  if (next != launch.here.end()) parts.clear();
  return parts;
}

}  // namespace starling
