// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "agents/recall.h"
#include "bus/wire/node.h"

namespace starling {

AgentNode::AgentNode(Agent agent, Endpoint& endpoint, Journal& journal, NodeOptions options)
    : Node(agent_node(agent.config().me), agent.config().incarnation, agent.config().limits,
           endpoint, &journal, options, agent.config().protocol),
      agent_(std::move(agent)),
      journal_(journal) {
  for (const PeerAgent& peer : agent_.config().flock) {
    set_owner(peer.partition.id, agent_node(peer.agent));
  }
}

void AgentNode::receive(Instant now, Received received) {
  agent_.step(now, Event{std::move(received)}, out_);
}

void AgentNode::tick_core(Instant now) {
  // Only a Tick that something was waiting for can have decided anything.
  const bool timed = stopwatch() != nullptr && agent_.next_deadline() <= now;
  const Instant before = timed ? stopwatch()->now() : Instant{};
  agent_.step(now, Tick{}, out_);
  if (timed) agent_.note_decision_time(stopwatch()->now() - before);
}

void AgentNode::fill_in() {
  starling::fill_in(out_, [this](std::uint64_t chunk) -> const std::map<JobId, JobState>* {
    if (recalled_chunk_ != chunk) {
      recalled_chunk_ = 0;
      const auto records = journal_.archived(chunk);
      if (!records) return nullptr;
      recalled_ = jobs_in(records.value());
      recalled_chunk_ = chunk;
    }
    return &recalled_;
  });
}

Status AgentNode::remember(std::string made_of, PolicyMemory* memory,
                           std::span<const std::byte> kept, Instant now) {
  return policy_.take_up(*agent_.state().policy, std::move(made_of), memory, kept, agent_.config(),
                         now);
}

void AgentNode::run_commands() {
  policy_.learn(agent_.state());
  if (model_ == nullptr) return;
  for (const SpeedSample& sample : out_.teach) {
    model_->observe(sample.job, sample.placement, sample.beside, sample.relative);
    ++unkept_;
  }
  if (unkept_ >= kKeepEvery) keep_speeds();
}

void AgentNode::keep_learned() {
  policy_.keep(agent_.state());
  keep_speeds();
}

void AgentNode::keep_speeds() {
  if (unkept_ == 0) return;
  unkept_ = 0;
  memory_->keep(model_->state());
}

}  // namespace starling
