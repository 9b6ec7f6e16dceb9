// SPDX-License-Identifier: Apache-2.0
// What an executor runs, and how it ends.
#include <algorithm>
#include <functional>
#include <utility>

#include "agents/executor/executor_step.h"
#include "base/marks.h"
#include "base/planted.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr Duration kYoung = std::chrono::minutes(2);  // frames of it may still be on their way

}  // namespace

/// The fence. Durable before anything that the new epoch commands, because persisting precedes
/// running.
bool ExecutorStep::admit(const Fence& fence) {
  STARLING_MARK("executor: admit");
  if (fence.partition != s.config.partition) {
    ++s.refused_frames;
    return false;
  }
  const bool old = fence.epoch < s.epoch && !planted(Bug::executor_ignores_epochs);
  if (old || (planted(Bug::epoch_compared_wrongly) && fence.epoch == s.epoch)) {
    STARLING_MARK("executor: an old epoch is fenced");
    s.last_from_owner = s.previous_from_owner;  // who was deposed is not the owner
    tell(Fenced{s.config.partition, s.epoch});
    return false;
  }
  if (fence.epoch > s.epoch) {
    STARLING_MARK("executor: a new epoch is kept");
    s.epoch = fence.epoch;
    if (planted(Bug::epoch_not_durable)) return true;
    out.persist.push_back(EpochSeen{fence.partition, fence.epoch});
  }
  return true;
}

/// Whether the owner means the same GPUs by the same numbers.
bool ExecutorStep::agree(std::uint64_t theirs) {
  const std::uint64_t mine = s.topology_said();
  s.agreed = mine == 0 || theirs == 0 || mine == theirs;
  if (!s.agreed) ++s.refused_frames;
  return s.agreed;
}

std::string ExecutorStep::why_not(const Launch& launch) const {
  const auto outside = [&](GpuId gpu) { return !s.gpus.contains(gpu.value); };
  if (launch.here.empty()) return "no GPU is named";
  if (std::adjacent_find(launch.here.begin(), launch.here.end(), std::greater_equal<>()) !=
      launch.here.end()) {
    return "its GPUs are not in ascending order";
  }
  if (std::any_of(launch.here.begin(), launch.here.end(), outside)) {
    return "a GPU is on a server of another executor";
  }
  for (const Share& share : launch.gang) {
    for (const GpuId gpu : share.gpus) {
      if (gpu.value >= s.topology.gpu_count()) return "its gang names a GPU that does not exist";
    }
  }
  if (s.any_full(launch.here)) return "a GPU is busy";
  return {};
}

/// Again: the same result. After the end, a kill or a refusal: refused for good.
void ExecutorStep::on(const Launch& launch) {
  STARLING_MARK("executor: Launch");
  if (!admit(launch.fence)) return;
  // The same numbers may be other GPUs here. Or it was meant for an earlier life whose disk is
  // lost, and the attempt is over. The owner repeats what it still wants.
  if (!s.agreed) {
    STARLING_MARK("executor: a Launch before both agree on the topology");
    ++s.refused_frames;
    return;
  }
  if (s.forgotten.contains(launch.attempt)) {
    STARLING_MARK("executor: a Launch of what is over");
    return tell(LaunchResult{launch.attempt, false, "the attempt is over"});
  }
  if (const auto known = s.runs.find(launch.attempt); known != s.runs.end()) {
    const bool killed = known->second.killed;
    return tell(
        LaunchResult{launch.attempt, !killed, killed ? "the attempt is being stopped" : ""});
  }
  // Not for good, and without a trace: there is no room for one.
  if (s.unheard >= kUnheardEnds || s.forgotten.full_of_young(now - kYoung)) {
    return tell(LaunchResult{launch.attempt, false, "too many attempts have ended here lately"});
  }
  // It may have waited here while this executor was down. The owner counts from when it heard us
  // last, and leaves `late` for frames on their way; what it still wants it says again.
  Run run;
  run.since = said_at_the_latest();
  run.until = until(run);
  if (run.until <= now) {
    ++s.refused_frames;
    return;
  }
  std::string reason = why_not(launch);
  std::vector<LaunchSpec> parts;
  if (reason.empty()) {
    parts = parts_of(launch, s.topology);
    if (parts.empty()) reason = "its GPUs are not a part of its gang";
  }
  if (!reason.empty()) {
    forget(launch.attempt, Duration{0});
    return tell(LaunchResult{launch.attempt, false, std::move(reason)});
  }
  run.launch = launch;
  out.persist.push_back(ProcessLaunching{launch});
  s.mark(launch.here, true);
  for (LaunchSpec& part : parts) {
    run.parts.push_back({part.server});
    part.until = run.until;
    part.grace = s.config.timers.kill_grace;
    out.run.push_back(std::move(part));
  }
  run.began = now;
  // From now on, so that standing still from here on until this life ends counts as silence.
  if (s.config.calendar && beats()) write_wanted(launch.attempt, run);
  watch_limit(launch.attempt, s.runs.emplace(launch.attempt, std::move(run)).first->second);
  tell(LaunchResult{launch.attempt, true, {}});
}

/// Killed only once nothing of it is left; valid in every state, also before the Launch.
void ExecutorStep::on(const Kill& kill) {
  STARLING_MARK("executor: Kill");
  if (!admit(kill.fence)) return;
  if (const Tombstone* over = s.forgotten.find(kill.attempt)) {
    return tell(Killed{kill.attempt, over->served});
  }
  const auto at = s.runs.find(kill.attempt);
  if (at != s.runs.end() && at->second.phase != Run::Phase::exited) {
    at->second.killed = true;
    return stop(at->second, {0, true, "stopped: its owner wanted it so"});
  }
  const Duration served = at == s.runs.end() ? Duration{0} : at->second.served;
  forget(kill.attempt, served);
  tell(Killed{kill.attempt, served});
}

void ExecutorStep::on(const ExitedAck& ack) {
  STARLING_MARK("executor: ExitedAck");
  const auto at = s.runs.find(ack.attempt);
  if (at == s.runs.end() || at->second.phase != Run::Phase::exited) return;
  forget(ack.attempt, at->second.served);
}

void ExecutorStep::on(const InventoryRequest& request) {
  STARLING_MARK("executor: InventoryRequest");
  if (!admit(request.fence) || !agree(request.topology)) return;
  Inventory inventory{request.fence, {}, s.health_version(), s.sick_gpus()};
  std::size_t room = s.config.limits.frame_bytes / 4;  // for last words: the rest has to fit, too
  for (const auto& [attempt, run] : s.runs) {
    inventory.items.push_back({attempt, run.launch.here, run.phase == Run::Phase::exited, run.exit,
                               run.served, demand_of(run.launch.spec)});
    std::string& tail = inventory.items.back().exit.log_tail;
    if (tail.size() > room) tail.clear();
    room -= tail.size();
  }
  tell(std::move(inventory));
}

/// Durable, with the reason: what ends by force from now on, in this life or the next one, says
/// nothing of its job.
void ExecutorStep::stop(Run& run, const ExitStatus& why) {
  STARLING_MARK("executor: stop");
  if (run.phase != Run::Phase::running) return;
  run.phase = Run::Phase::stopping;
  if (!std::exchange(run.stands, true)) run.exit = why;
  out.persist.push_back(ProcessStopping{run.launch.attempt, run.exit});
  out.run.push_back(StopSpec{run.launch.attempt, s.config.timers.kill_grace});
}

/// One part ended. A gang lives and dies together: the first failure stops the other parts.
void ExecutorStep::exited(const Exit& exit) {
  STARLING_MARK("executor: exited");
  const auto at = s.runs.find(exit.attempt);
  if (at == s.runs.end() || at->second.phase == Run::Phase::exited) return;
  Run& run = at->second;
  const auto part = std::find_if(run.parts.begin(), run.parts.end(),
                                 [&](const RunPart& p) { return p.server == exit.server; });
  if (part == run.parts.end() || part->ended) return;
  part->ended = true;
  part->served = exit.served;
  const bool failed = exit.exit.code != 0 || exit.exit.lost;
  if (!run.stands && (failed || run.exit.log_tail.empty())) run.exit = exit.exit;
  run.stands = run.stands || failed;
  const auto ended = [](const RunPart& p) { return p.ended; };
  if (std::all_of(run.parts.begin(), run.parts.end(), ended)) return finish(run);
  if (failed && !planted(Bug::part_lives_on)) stop(run, run.exit);
}

void ExecutorStep::finish(Run& run) {
  STARLING_MARK("executor: finish");
  const AttemptId attempt = run.launch.attempt;
  run.served = Duration::max();
  for (const RunPart& part : run.parts) run.served = std::min(run.served, part.served);
  s.mark(run.launch.here, false);
  run.phase = Run::Phase::exited;
  ++s.unheard;
  if (!planted(Bug::exit_not_durable)) {
    out.persist.push_back(ProcessExited{attempt, run.exit, run.served});
  }
  if (!run.killed) return tell_exited(run);
  const Duration served = run.served;
  forget(attempt, served);
  tell(Killed{attempt, served});
}

void ExecutorStep::forget(AttemptId attempt, Duration served) {
  STARLING_MARK("executor: forget");
  s.forget(attempt, served, now);
  out.persist.push_back(ProcessForgotten{attempt});
}

void ExecutorStep::tell_exited(Run& run) {
  STARLING_MARK("executor: tell_exited");
  const AttemptId attempt = run.launch.attempt;
  tell(Exited{attempt, s.config.partition, run.exit, run.served});
  const Timers& timers = s.config.timers;
  run.backoff = std::clamp(run.backoff * 2, timers.retry_min, timers.retry_max);
  s.resends.move(attempt, run.resend, later(now, run.backoff));
}

}  // namespace starling
