// SPDX-License-Identifier: Apache-2.0
#include "agents/executor/executor.h"

#include <algorithm>
#include <utility>

#include "agents/executor/executor_state.h"
#include "agents/executor/executor_step.h"
#include "base/check.h"

namespace starling {

Executor::Executor(ExecutorConfig config, const Topology& topology,
                   std::span<const Record> recovered)
    : state_(std::make_unique<ExecutorState>(std::move(config), topology)) {
  for (const Record& record : recovered) state_->replay(record);
}
Executor::Executor(std::unique_ptr<ExecutorState> state) : state_(std::move(state)) {}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

void Executor::step(Instant now, const ExecutorEvent& event, ExecutorOutput& out) {
  ExecutorStep step{*state_, now, out};
  step.begin();
  if (const auto* received = std::get_if<Received>(&event)) {
    step.receive(*received);
  } else if (const auto* exit = std::get_if<Exit>(&event)) {
    step.exited(*exit);
  } else if (const auto* progress = std::get_if<Progress>(&event)) {
    step.measured(*progress);
    return;  // the beat comes with Tick, when all have been measured
  } else if (const auto* sick = std::get_if<SickGpus>(&event)) {
    step.saw(*sick);
  }
  step.tick();
}

Instant Executor::next_deadline() const noexcept {
  return std::min(
      {state_->hello, state_->beat, state_->report, state_->resends.next(), state_->limits.next()});
}

const ExecutorConfig& Executor::config() const noexcept { return state_->config; }
const ExecutorState& Executor::state() const noexcept { return *state_; }

Executor Executor::clone() const { return Executor(std::make_unique<ExecutorState>(*state_)); }

std::vector<LaunchSpec> Executor::running() const {
  std::vector<LaunchSpec> all;
  for (const auto& [attempt, run] : state_->runs) {
    if (run.phase == Run::Phase::exited) continue;
    const std::vector<LaunchSpec> parts = parts_of(run.launch, state_->topology);
    STARLING_CHECK(parts.size() == run.parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!run.parts[i].ended) all.push_back(parts[i]);
    }
  }
  return all;
}

std::vector<Record> Executor::snapshot() const {
  std::vector<Record> records;
  records.push_back(LifeBegan{state_->config.incarnation, state_->epoch});
  if (state_->config.topology != 0) records.push_back(TopologyRead{state_->config.topology});
  for (const AttemptId attempt : state_->forgotten.order()) {
    records.push_back(ProcessForgotten{attempt});
    const Duration served = state_->forgotten.find(attempt)->served;
    if (served > Duration{0}) records.push_back(TombstoneServed{attempt, served});
  }
  for (const auto& [attempt, run] : state_->runs) {
    records.push_back(ProcessLaunching{run.launch});
    if (run.wanted) records.push_back(ProcessWanted{attempt, *run.wanted, run.token > 0});
    if (run.phase == Run::Phase::stopping) records.push_back(ProcessStopping{attempt, run.exit});
    if (run.phase == Run::Phase::exited) {
      records.push_back(ProcessExited{attempt, run.exit, run.served});
    }
  }
  return records;
}

}  // namespace starling
