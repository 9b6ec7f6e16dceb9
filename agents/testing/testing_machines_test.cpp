// SPDX-License-Identifier: Apache-2.0
// Processes of the test flock, and nodes that die and come back.
#include <algorithm>

#include "agents/explain/describe_test.h"
#include "agents/testing/testing.h"

namespace starling {

void TestFlock::run(std::uint32_t e, const RunCommand& command) {
  const auto end_at = [&](Instant when, const ProcessKey& key, Process& process) {
    process.version = ++versions_;
    Event event;
    event.attempt = key.first;
    event.server = key.second;
    event.version = process.version;
    queue_.emplace(when, std::move(event));
  };
  if (const auto* launch = std::get_if<LaunchSpec>(&command)) {
    const ProcessKey key{launch->attempt, launch->server};
    if (processes_.contains(key)) return fault("started twice: " + attempt_text(launch->attempt));
    ++launches_;
    Process process;
    process.executor = e;
    process.gpus = launch->gpus;
    process.started = now_;
    const auto code = exit_codes_.find(launch->attempt.job.lo);
    process.code = code == exit_codes_.end() ? 0 : code->second;
    const auto loss = losses_.find(launch->attempt.job.lo);
    process.lost = starts_fail_.contains(e) || loss != losses_.end();
    const Duration duration = launch->spec.duration;
    note("hardware: " + attempt_text(launch->attempt) + " starts on GPUs " +
         gpus_text(launch->gpus));
    if (process.lost) {
      end_at(loss == losses_.end() ? now_ : later(now_, loss->second), key, process);
    } else if (duration > Duration{0}) {
      end_at(later(now_, std::max(duration - launch->served, Duration{0})), key, process);
    }
    processes_.emplace(key, process);
    return;
  }
  if (std::holds_alternative<RenewSpec>(command)) return;
  if (const auto* signal = std::get_if<SignalSpec>(&command))
    return note("hardware: " + attempt_text(signal->attempt) + " gets signal " +
                std::to_string(signal->number));
  const StopSpec& stop = std::get<StopSpec>(command);
  for (auto& [key, process] : processes_) {
    if (key.first != stop.attempt || process.executor != e) continue;
    process.code = -15;
    end_at(now_, key, process);
  }
}

void TestFlock::crash_agent(std::uint32_t a) {
  if (agents_[a].core == nullptr) return;
  agents_[a].snapshot = agents_[a].core->snapshot();
  agents_[a].core.reset();
  note("agent " + std::to_string(a) + " crashes");
}

void TestFlock::crash_agent_at(std::uint32_t a, std::uint64_t n, bool before_sending) {
  agents_[a].crash_at = n;
  agents_[a].crash_before_sending = before_sending;
}

void TestFlock::restart_agent(std::uint32_t a, bool compacted) {
  AgentSlot& slot = agents_[a];
  if (slot.core != nullptr) return;
  note("agent " + std::to_string(a) + " is back");
  ++slot.config.incarnation.value;
  if (compacted) slot.journal = slot.snapshot;
  start_agent(a, slot.journal);
}

void TestFlock::crash_executor(std::uint32_t e) {
  note("executor " + std::to_string(e) + " and its machine die");
  executors_[e].core.reset();
  std::erase_if(processes_, [&](const auto& entry) { return entry.second.executor == e; });
}

void TestFlock::restart_executor(std::uint32_t e) {
  note("executor " + std::to_string(e) + " is back");
  ExecutorSlot& slot = executors_[e];
  ++slot.config.incarnation.value;
  slot.core = std::make_unique<Executor>(slot.config, topology_, slot.journal);
  for (const LaunchSpec& part : slot.core->running()) {
    if (processes_.contains({part.attempt, part.server})) continue;  // only the daemon had died
    step_executor(e, Exit{part.attempt, part.server, {0, true, "the machine died"}, Duration{0}});
  }
}

}  // namespace starling
