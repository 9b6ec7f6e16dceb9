// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <string>

#include "agents/step/owner_step.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {
namespace {

constexpr std::uint64_t kOldestHealth = 1;  // real versions have a life in their upper half

std::string hex(std::uint64_t number) {
  std::ostringstream text;
  text << std::hex << number;
  return text.str();
}

}  // namespace

/// Said again with each heartbeat until it is answered.
void FlockStep::greet(const PeerState& peer) {
  tell(peer.peer.agent, Hello{Role::agent, kOldestProtocol, s.config.protocol, {}, topology()});
}

/// What this agent says that it has read. Those of the first protocol say nothing.
std::uint64_t FlockStep::topology() const { return s.config.protocol < 2 ? 0 : s.config.topology; }

bool FlockStep::is_other_topology(std::uint64_t theirs) const {
  return theirs != 0 && topology() != 0 && theirs != topology();
}

bool FlockStep::is_foreign(NodeId node) {
  const Watch* watch = watch_of(node);
  return watch != nullptr && watch->foreign;
}

/// From an executor: perhaps a new life, so what runs there has to be compared again. One that has
/// read another topology means other GPUs by the same numbers: its own are quarantined.
void OwnerStep::on(NodeId from, const Hello& hello) {
  STARLING_MARK("agent: Hello");
  const std::uint16_t mine = s.config.protocol;
  const bool foreign = hello.protocol_min > mine || hello.protocol_max < kOldestProtocol;
  if (foreign && !planted(Bug::other_protocol_welcomed)) {
    return send(from, Goodbye{"agent " + std::to_string(me().value) + " speaks protocols " +
                              std::to_string(kOldestProtocol) + " to " + std::to_string(mine) +
                              ", and you " + std::to_string(hello.protocol_min) + " to " +
                              std::to_string(hello.protocol_max)});
  }
  const bool other = is_other_topology(hello.topology);
  if (Watch* watch = watch_of(from)) watch->foreign = other;
  if (other) {
    STARLING_MARK("agent: a node has read another topology");
    send(from, Goodbye{"agent " + std::to_string(me().value) + " has read another topology (" +
                       hex(topology()) + ") than you (" + hex(hello.topology) +
                       "); give both the same file and start the wrong one again"});
  } else {
    send(from, Welcome{s.fence(), topology()});
  }
  if (is_agent(from) && from != agent_node(me())) s.flock.gossip.forget(agent_of(from));
  OwnedExecutor* executor = executor_at(from);
  if (executor == nullptr) return;
  // An older copy's lives have lower numbers than were heard of, and so have the versions of what
  // it says of its GPUs. Its inventory has the newest; of protocol 1 it has none, and undoes all.
  executor->health = std::min(executor->health, kOldestHealth);
  if (executor->trusted) {
    executor->trusted = false;
    s.owner.ledger.distrust(executor->servers);
    s.flock.digest_due = true;
  }
  if (executor->asked != now) request_inventory(*executor);
}

/// Written down, because an owner that was deposed and does not know it yet must not be believed by
/// this home's next life: it would say that an attempt which it never heard of is over.
void FlockStep::heard_epoch(PeerState& peer, Epoch epoch) {
  if (epoch <= peer.epoch) return;
  peer.epoch = epoch;
  persist(EpochSeen{peer.peer.partition.id, epoch});
}

void FlockStep::on(NodeId from, const Welcome& welcome) {
  STARLING_MARK("agent: Welcome");
  if (!is_agent(from)) return refuse();
  PeerState& peer = s.flock.peers[agent_of(from).value];
  if (welcome.fence.partition != peer.peer.partition.id) return refuse();
  heard_epoch(peer, welcome.fence.epoch);
  peer.answered = true;
  peer.watch.foreign = is_other_topology(welcome.topology);
  if (gossips()) s.flock.digest_due = true;  // its own digest may wait for a peer that listens
}

/// It was perhaps said to an earlier life, so Hello goes on being said until there is a Welcome.
void FlockStep::on(NodeId from, const Goodbye&) {
  if (!is_agent(from)) return;
  PeerState& peer = s.flock.peers[agent_of(from).value];
  peer.answered = false;
  peer.watch.foreign = true;
}

/// An executor that has seen a higher epoch obeys another owner; an owner says which epoch counts.
void FlockStep::on(NodeId from, const Fenced& fenced) {
  STARLING_MARK("agent: Fenced");
  const PeerState* owner = s.flock.owner_of(fenced.partition);
  if (!is_agent(from) || owner == nullptr || agent_node(owner->peer.agent) != from) return refuse();
  heard_epoch(s.flock.peers[owner->peer.agent.value], fenced.epoch);
}

}  // namespace starling
