// SPDX-License-Identifier: Apache-2.0
// Whether an executor's owner, and the homes of what it runs, are still there; its GPUs' health;
// time.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "agents/executor/executor_step.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {
namespace {

constexpr Duration kSweep = std::chrono::minutes(1);
constexpr Duration kLongest = std::chrono::hours(24 * 365);
constexpr std::size_t kPingsKept = 64;
constexpr int kBeatsToPing = 10;  // though the owner speaks: it may not hear

}  // namespace

void ExecutorStep::begin() {
  STARLING_MARK("executor: begin");
  if (s.begun) return;
  s.begun = true;
  s.last_from_owner = s.previous_from_owner = s.born = s.sweep = now;
  s.heard_by_owner = Instant::min();
  s.forgotten.date(now);
  s.hello_backoff = s.config.timers.retry_min;
  out.persist.push_back(LifeBegan{s.config.incarnation, s.epoch});
  if (s.config.topology != 0) out.persist.push_back(TopologyRead{s.config.topology});
  for (auto& [attempt, run] : s.runs) {
    run.since = run.began = now;
    run.recovered = true;
    watch_limit(attempt, run);
    if (run.phase == Run::Phase::stopping) {
      STARLING_MARK("executor: a life begins with what is being stopped");
      out.run.push_back(StopSpec{attempt, s.config.timers.kill_grace});
    }
    if (run.phase == Run::Phase::exited) continue;
    if (s.config.calendar && run.wanted) {
      run.since = std::min(now, Instant(*run.wanted - *s.config.calendar));
    } else if (s.config.calendar) {
      write_wanted(attempt, run);
    }
    if (run.token > 0) run.confirmed_at = run.since;
  }
  if (beats()) s.beat = later(now, s.config.timers.heartbeat);
  if (!beats()) s.report = later(now, s.config.timers.report);
}

void ExecutorStep::on(const Welcome& welcome) {
  STARLING_MARK("executor: Welcome");
  if (!admit(welcome.fence) || !agree(welcome.topology)) return;
  s.welcomed = true;
  s.hello = kNever;
}

/// The owner does not work with what it knows of this node, which may be an earlier life: it is
/// greeted until it does.
void ExecutorStep::on(const Goodbye&) {
  STARLING_MARK("executor: Goodbye");
  s.welcomed = false;
  if (s.hello != kNever) return;
  s.hello_backoff = s.config.timers.retry_min;
  s.hello = later(now, s.hello_backoff);
}

/// How old the home's confirmation is. One that was overtaken by a newer one is dropped. It left
/// the owner after the last Pong, and maybe long before it arrived here, so it counts from that
/// Pong's Ping: an old word that is said again may count from earlier than when it was said first.
void ExecutorStep::on(const AttemptAnswer& answer) {
  STARLING_MARK("executor: AttemptAnswer");
  const auto at = s.runs.find(answer.attempt);
  if (at == s.runs.end() || at->second.phase == Run::Phase::exited) return;
  Run& run = at->second;
  if (answer.life != AttemptLife::live || answer.token <= run.token) return;
  const bool first = std::exchange(run.token, answer.token) == 0;
  const Instant said =
      std::max(run.since, s.heard_by_owner) - std::min(answer.age, s.config.timers.orphan);
  run.confirmed_at = std::max(run.confirmed_at, said);
  // From now on the next life, too, goes by more than the owner's word.
  if (first && s.config.calendar) write_wanted(answer.attempt, run);
}

/// The owner hears us: that counts from the Ping, so a late Pong lengthens nothing.
void ExecutorStep::on(const Pong& pong) {
  STARLING_MARK("executor: Pong");
  while (!s.pinged.empty() && s.pinged.front().first <= pong.sequence) {
    if (s.pinged.front().first == pong.sequence) s.heard_by_owner = s.pinged.front().second;
    s.pinged.pop_front();
  }
}

void ExecutorStep::ping() {
  STARLING_MARK("executor: ping");
  if (s.pinged.size() >= kPingsKept) s.pinged.pop_front();
  s.pinged.emplace_back(++s.pings, now);
  tell(Ping{s.pings});
}

/// Of what has arrived now, as far as its owner's patience counts: later than this it may have
/// given up who said nothing since.
Instant ExecutorStep::said_at_the_latest() const {
  if (!beats()) return now;
  return std::min(now, later(std::max(s.born, s.heard_by_owner), s.config.timers.late));
}

/// The owner could have been told of its end, and the home by the owner.
Instant ExecutorStep::wanted(const Run& run) const {
  const Instant heard = std::max(run.since, s.heard_by_owner);
  return run.token > 0 ? std::min(heard, run.confirmed_at) : heard;
}

/// It may live so long without another confirmation. The launcher is told, and sees to it that this
/// holds also if this executor runs no cycle any more. Where nothing beats, silence means nothing.
Instant ExecutorStep::until(const Run& run) const {
  if (planted(Bug::never_lapses)) return kNever;
  return beats() ? later(wanted(run), s.config.timers.orphan) : kNever;
}

void ExecutorStep::write_wanted(AttemptId attempt, Run& run) {
  run.wanted = *s.config.calendar + wanted(run).time_since_epoch();
  out.persist.push_back(ProcessWanted{attempt, *run.wanted, run.token > 0});
}

/// So that the next life counts silence on from there: now and then, and once when it begins.
void ExecutorStep::keep_wanted(AttemptId attempt, Run& run) {
  if (!s.config.calendar) return;
  const Duration at = *s.config.calendar + wanted(run).time_since_epoch();
  const Duration known =
      run.wanted ? *run.wanted : *s.config.calendar + run.since.time_since_epoch();
  const Duration every = s.config.timers.late;
  const bool silent = later(wanted(run), every) <= now;
  if (at - known >= every || (silent && at != run.wanted)) write_wanted(attempt, run);
}

void ExecutorStep::sweep() {
  STARLING_MARK("executor: sweep");
  s.sweep = now;
  const Instant before = now - std::min(s.config.timers.retention, kLongest);
  std::vector<AttemptId> dropped = s.forgotten.sweep(before, [](AttemptId) { return false; });
  if (!dropped.empty()) out.persist.push_back(TombstonesDropped{std::move(dropped)});
}

void ExecutorStep::receive(const Received& event) {
  if (event.from != owner()) {
    // Another agent asks for the owner's sake whether this node lives.
    const auto* ping = std::get_if<Ping>(&event.message);
    if (ping != nullptr && s.config.protocol >= 2 && event.from.value < kFirstExecutor) {
      out.send.push_back({event.from, pong(*ping)});
    } else {
      ++s.refused_frames;
    }
    return;
  }
  s.previous_from_owner = std::exchange(s.last_from_owner, now);
  s.owner_speaks = event.protocol;
  std::visit([&](const auto& message) { on(message); }, event.message);
}

Pong ExecutorStep::pong(const Ping& ping) const {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(s.lag).count();
  return {ping.sequence, static_cast<std::uint32_t>(std::clamp<std::int64_t>(us, 0, UINT32_MAX))};
}

/// A bad GPU stays out of use until it has been well for Timers::gpu_quiet, so that one that comes
/// and goes does not take a job with it each time. One that was only in use is free at once.
void ExecutorStep::saw(const SickGpus& now_sick) {
  bool changed = false;
  for (auto& [gpu, well] : s.sick) {
    const bool bad = std::binary_search(now_sick.gpus.begin(), now_sick.gpus.end(), gpu);
    if (bad) well = kNever;
    if (!bad && well == kNever) well = now;
  }
  for (const GpuId gpu : now_sick.gpus) {
    if (s.gpus.contains(gpu.value)) changed = s.sick.emplace(gpu, kNever).second || changed;
  }
  Placement in_use;
  for (const GpuId gpu : now_sick.in_use) {
    if (s.gpus.contains(gpu.value)) in_use.push_back(gpu);
  }
  changed = std::exchange(s.in_use, in_use) != in_use || changed;
  if (changed) tell_health();
}

void ExecutorStep::tell_health() {
  ++s.health;
  s.health_seen = false;
  if (s.owner_speaks >= 2) tell(GpuHealth{s.health_version(), s.sick_gpus()});
}

void ExecutorStep::on(const GpuHealthSeen& seen) {
  if (seen.version == s.health_version()) s.health_seen = true;
}

void ExecutorStep::tick() {
  STARLING_MARK("executor: tick");
  if (s.hello <= now) {
    tell(Hello{Role::executor, kOldestProtocol, s.config.protocol, {}, s.topology_said()});
    s.hello = later(now, s.hello_backoff);
    s.hello_backoff = std::min(s.hello_backoff * 2, s.config.timers.retry_max);
  }
  while (const std::optional<AttemptId> attempt = s.resends.due(now))
    tell_exited(s.runs.at(*attempt));
  while (const std::optional<AttemptId> attempt = s.limits.due(now))
    at_limit(*attempt, s.runs.at(*attempt));
  if (later(s.sweep, kSweep) <= now) sweep();
  if (s.beat <= now) beat();
  if (s.report <= now) {
    report();
    s.report = later(now, s.config.timers.report);
  }
}

void ExecutorStep::beat() {
  STARLING_MARK("executor: beat");
  const Timers& timers = s.config.timers;
  s.lag = std::max(now - s.beat, s.lag / 2);
  s.beat = later(now, timers.heartbeat);
  const Instant pinged =
      s.pinged.empty() ? std::max(s.born, s.heard_by_owner) : s.pinged.back().second;
  const bool silent = later(s.last_from_owner, timers.heartbeat) <= now;
  if (s.welcomed && (silent || later(pinged, timers.heartbeat * kBeatsToPing) <= now)) ping();
  const auto recovered = [&](const auto& gpu) {
    return later(gpu.second, timers.gpu_quiet) <= now;
  };
  if (std::erase_if(s.sick, recovered) > 0) {
    tell_health();
  } else if (!s.health_seen && s.owner_speaks >= 2) {
    tell(GpuHealth{s.health_version(), s.sick_gpus()});
  }
  for (auto& [attempt, run] : s.runs) {
    if (run.phase == Run::Phase::exited) continue;
    if (run.phase == Run::Phase::running) {
      const Instant ends = until(run);
      if (ends <= now) {
        STARLING_MARK("executor: orphaned");
        stop(run, {0, true, "stopped: its owner had been silent for too long"});
      } else if (ends != run.until) {
        run.until = ends;
        out.run.push_back(RenewSpec{attempt, ends});
      }
    }
    keep_wanted(attempt, run);
  }
  report();
}

/// How far everything has come that was measured since the last time.
void ExecutorStep::report() {
  for (auto& [attempt, run] : s.runs) {
    if (run.phase != Run::Phase::exited && std::exchange(run.measured, false)) tell(run.progress);
  }
}

}  // namespace starling
