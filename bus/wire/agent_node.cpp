// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "agents/agent/recall.h"
#include "agents/limited_room.h"
#include "agents/step/state.h"
#include "bus/wire/node.h"

namespace starling {

namespace {

/// The core's journal may have room for what must be written, and for nothing new: a job that is
/// not here yet is not heard then, as where there are too many.
bool refuse_for_room(Journal& journal, const AgentState& state, const Received& received,
                     std::vector<Send>& send) {
  constexpr std::uint32_t kRoomRetryMs = 1000;
  const auto* submit = std::get_if<Submit>(&received.message);
  auto* room = dynamic_cast<LimitedRoom*>(&journal);
  if (submit == nullptr || room == nullptr || !room->short_of_room()) return false;
  const JobId& id = submit->spec.id;
  if (state.home.jobs.contains(id) || state.home.remembered.ended.contains(id)) return false;
  send.push_back({received.from, Busy{id, kRoomRetryMs}});
  return true;
}

}  // namespace

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
  if (refuse_for_room(journal_, agent_.state(), received, out_.send)) return;
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
  std::vector<Send> own;
  std::erase_if(out_.send, [&](Send& send) {
    if (send.to != agent_node(agent_.config().me)) return false;
    own.push_back(std::move(send));
    return true;
  });
  const Instant now = agent_.state().now;
  const std::uint16_t protocol = agent_.config().protocol;
  for (Send& send : own)
    agent_.step(now, Event{Received{send.to, std::move(send.message), protocol, {}}}, out_);
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
