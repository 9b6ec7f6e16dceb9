// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "agents/config.h"
#include "agents/message.h"
#include "agents/parts/gossip.h"
#include "agents/parts/watch.h"
#include "scheduling/policy.h"
#include "topology/free_servers.h"
#include "topology/server_rooms.h"

namespace starling {

/// Another agent of the flock.
struct PeerState {
  PeerAgent peer;
  Epoch epoch{1};  ///< of its partition, the newest heard of; durable
  Watch watch;
  bool answered = false;  ///< the Hello of this life
  std::optional<Digest> digest;
  Instant digest_at;                 ///< when it was said, as far as it is known
  Instant unready = Instant::min();  ///< it refused a gang its turn: not asked again before
};

/// What an agent knows of which nodes can be heard, and what it tells others of itself.
struct FlockState {
  explicit FlockState(const AgentConfig& config);

  std::vector<PeerState> peers;  ///< by AgentId; this agent too, unused
  LocalHealth health;
  std::vector<Probe> probes;  ///< that others have asked for
  std::size_t probers = 0;    ///< whose turn it is to be asked
  std::uint64_t pings = 0;  ///< above all of earlier lives, whose answers may still be on their way

  std::optional<Digest> digest;  ///< the last one sent
  Instant digest_sent = Instant::min();
  std::uint64_t digests = 0;
  Gossip gossip;                       ///< where it is too large for each to tell all others
  Instant passed_on = Instant::min();  ///< when an agent was last told by that
  bool digest_due = false;             ///< something changed since it was last looked at
  Instant next_digest = kNever;        ///< when to look whether one is to be sent
  Digest draft;                        ///< scratch of send_digests()
  FreeServers free_now;                ///< follows the ledger where there are others to tell
  ServerRooms rooms_now;               ///< the same
  std::vector<RemoteDigest> others;    ///< scratch of decide()

  /// The agent that owns `partition`; null: none.
  [[nodiscard]] const PeerState* owner_of(PartitionId partition) const noexcept;
};

}  // namespace starling
