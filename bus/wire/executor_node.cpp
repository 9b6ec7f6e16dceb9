// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <variant>

#include "bus/wire/node.h"

namespace starling {

ExecutorNode::ExecutorNode(Executor executor, Endpoint& endpoint, Journal& journal,
                           Launcher& launcher, NodeOptions options)
    : Node(executor.config().me, executor.config().incarnation, executor.config().limits, endpoint,
           &journal, options, executor.config().protocol),
      executor_(std::move(executor)),
      launcher_(launcher) {
  set_owner(executor_.config().partition, agent_node(executor_.config().owner));
  launcher_.adopt(executor_.running());
}

Instant ExecutorNode::next_deadline() const noexcept {
  if (!failed_starts_.empty()) return Instant::min();
  return std::min(executor_.next_deadline(), launcher_.next_deadline());
}

void ExecutorNode::receive(Instant now, Received received) {
  executor_.step(now, ExecutorEvent{std::move(received)}, out_);
}

void ExecutorNode::tick_core(Instant now) {
  if (executor_.next_deadline() <= now) {
    for (Progress& progress : launcher_.measure()) {
      executor_.step(now, ExecutorEvent{std::move(progress)}, out_);
    }
  }
  executor_.step(now, Tick{}, out_);
}

void ExecutorNode::collect(Instant now) {
  for (Exit& exit : failed_starts_) executor_.step(now, ExecutorEvent{std::move(exit)}, out_);
  failed_starts_.clear();
  for (Exit& exit : launcher_.reap()) executor_.step(now, ExecutorEvent{std::move(exit)}, out_);
  // After the ends: the owner ends as lost what it believes to run on a GPU that is not to be used.
  if (auto sick = launcher_.health_news())
    executor_.step(now, ExecutorEvent{std::move(*sick)}, out_);
}

void ExecutorNode::fill_in() {
  const NodeId owner = agent_node(executor_.config().owner);
  for (const ReadOutput& read : out_.read)
    out_.send.push_back({owner, launcher_.read_output(read)});
}

void ExecutorNode::run_commands() {
  for (const RunCommand& command : out_.run) {
    if (const auto* stop = std::get_if<StopSpec>(&command)) {
      launcher_.stop(stop->attempt, stop->grace);
      continue;
    }
    if (const auto* renew = std::get_if<RenewSpec>(&command)) {
      launcher_.renew(renew->attempt, renew->until);
      continue;
    }
    if (const auto* signal = std::get_if<SignalSpec>(&command)) {
      launcher_.signal(signal->attempt, signal->number);
      continue;
    }
    const auto& start = std::get<LaunchSpec>(command);
    if (Status started = launcher_.start(start); !started.ok()) {
      // What a machine has no room for now says nothing of the job.
      const bool lost = started.error().code != Errc::invalid;
      failed_starts_.push_back(
          {start.attempt, start.server, {127, lost, started.error().message}, {}});
    }
  }
}

}  // namespace starling
