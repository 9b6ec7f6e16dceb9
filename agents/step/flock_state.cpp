// SPDX-License-Identifier: Apache-2.0
#include "agents/step/flock_state.h"

#include <utility>

#include "base/check.h"

namespace starling {

FlockState::FlockState(const AgentConfig& config)
    : pings(config.incarnation.value << 32U), gossip(config.me, config.flock.size()) {
  for (const PeerAgent& peer : config.flock) {
    STARLING_CHECK(peer.agent.value == peers.size());
    PeerState state;
    state.peer = peer;
    peers.push_back(std::move(state));
  }
  peers[config.me.value].epoch = config.epoch;
}

const PeerState* FlockState::owner_of(PartitionId id) const noexcept {
  // Partition p starts with agent p, and ownership is static.
  if (id.value < peers.size() && peers[id.value].peer.partition.id == id) return &peers[id.value];
  for (const PeerState& peer : peers) {
    if (peer.peer.partition.id == id) return &peer;
  }
  return nullptr;
}

}  // namespace starling
