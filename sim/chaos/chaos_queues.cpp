// SPDX-License-Identifier: Apache-2.0
// An operator sets queues and changes them (F37).
#include <utility>

#include "sim/chaos/chaos_faults.h"

namespace starling {
namespace {

constexpr AgentId kKeeper{0};
constexpr Duration kSayAgain = std::chrono::seconds(5);

/// What the clients that live were told of queues; null: nothing.
const QueuesState* told_of_queues(const World& world) {
  const QueuesState* newest = nullptr;
  for (std::uint32_t place = 0; place < world.users().places(); ++place) {
    const Client* client = world.users().client(place);
    if (client == nullptr || !client->queues()) continue;
    const QueuesState& told = *client->queues();
    if (newest == nullptr || told.tree.version > newest->tree.version) newest = &told;
  }
  return newest;
}

}  // namespace

QueueDraw* ChaosFaults::queues(std::uint32_t gpus) {
  const State& state = this->state("F37-queues");
  if (state.dose == Dose::off) return nullptr;
  if (!queues_) queues_.emplace(gpus, state.rng.fork(2));
  return &*queues_;
}

void ChaosFaults::change_queues(World& world, Rng& rng, Dose) {
  const std::uint32_t client = any_client(rng);
  const bool asks = rng.chance(0.4);
  QueueTree next = queues_->any(rng);
  if (asks) {
    world.ask(kKeeper, StatusQuery{}, client);  // the answer says whether the question is known
    return world.ask(kKeeper, QueuesQuery{}, client);
  }
  if (!saying_queues_ || rng.chance(0.2)) want_queues(world, std::move(next));
}

/// Says it until it is in force. Queues are refused while an agent speaks a version that knows
/// none, so operators bring all to a newer one.
void ChaosFaults::want_queues(World& world, QueueTree tree) {
  const bool first = wanted_queues_.version == 0;
  tree.version = wanted_queues_.version + (saying_queues_ && !first ? 0 : 1);
  wanted_queues_ = std::move(tree);
  if (!std::exchange(saying_queues_, true)) say_queues(world);
  if (first) upgrade_for_queues(world);
}

/// Again and again with one version, by whichever client, until one was told that it is in force.
/// If it was told of others of that version or a later one, those were set before.
void ChaosFaults::say_queues(World& world) {
  if (const QueuesState* told = told_of_queues(world)) {
    if (told->tree == wanted_queues_) {
      saying_queues_ = false;
      ++counts_["F37-queues: in force"];
      return;
    }
    if (told->tree.version >= wanted_queues_.version)
      wanted_queues_.version = told->tree.version + 1;
  }
  const std::uint32_t client = any_client(state("F37-queues").rng);
  world.ask(kKeeper, StatusQuery{}, client);
  world.ask(kKeeper, SetQueues{wanted_queues_}, client);
  world.at(world.now() + kSayAgain, [this](World& w) { say_queues(w); });
}

void ChaosFaults::upgrade_for_queues(World& world) {
  for (std::uint32_t a = 0; a < agents_; ++a) {
    const NodeId node = agent_node(AgentId{a});
    const Agent* core = world.agent(AgentId{a});
    if (world.protocol(node) < kQueuesProtocol) world.set_protocol(node, kNewestProtocol);
    if (core != nullptr && core->config().protocol < kQueuesProtocol)
      kill(world, state("F37-queues").rng, node);
  }
}

/// For the healing: what operators leave behind lets every job run in some time.
void ChaosFaults::settle_queues(World& world) {
  if (wanted_queues_.version == 0) return;
  want_queues(world, queues_->lasting(state("F37-queues").rng));
}

/// Of a keeper that has lost its state: what operators do, for until then it gives nothing out.
void ChaosFaults::say_queues_anew(World& world) {
  if (wanted_queues_.version == 0) return;
  ++wanted_queues_.version;
  if (!std::exchange(saying_queues_, true)) say_queues(world);
}

}  // namespace starling
