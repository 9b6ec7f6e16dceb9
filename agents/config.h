// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/time.h"
#include "topology/partition.h"

namespace starling {

// Node ids: agents first, then executors, then clients, so that a role can be told from the number
// in logs. The transport's allow-list, not the number, decides which node a peer is.
constexpr std::uint32_t kFirstExecutor = 0x0100'0000;
constexpr std::uint32_t kFirstClient = 0x0200'0000;
[[nodiscard]] constexpr NodeId agent_node(AgentId a) { return NodeId{a.value + 1}; }
[[nodiscard]] constexpr NodeId executor_node(std::uint32_t i) { return NodeId{kFirstExecutor + i}; }
[[nodiscard]] constexpr NodeId client_node(std::uint32_t i) { return NodeId{kFirstClient + i}; }

/// What follows from them when something falls silent: docs/protocol.md, Executors.
// clang-format off
struct Timers {
  Duration heartbeat = std::chrono::milliseconds(500);
  Duration digest = std::chrono::seconds(1);         ///< at most this old; sent earlier when a wait could end
  Duration digest_min = std::chrono::milliseconds(0);///< at least this far apart; 0: at every change of free
  Duration hold = std::chrono::seconds(5);           ///< a reserved share lapses after this
  Duration bid = std::chrono::milliseconds(200);     ///< offers that come later are not waited for
  Duration start = std::chrono::seconds(30);         ///< Start to all Started, then drain
  Duration orphan_query = std::chrono::seconds(5);   ///< between two questions to a silent home
  Duration reconfirm = std::chrono::seconds(10);     ///< a home that confirmed an attempt so long ago is asked
  Duration retry_min = std::chrono::milliseconds(100);
  Duration retry_max = std::chrono::seconds(5);
  Duration kill_grace = std::chrono::seconds(10);
  Duration orphan = std::chrono::seconds(300);       ///< an executor ends what no agent hears of
  Duration late = std::chrono::seconds(30);          ///< so late a frame, or a note of when one came, may be
  Duration gpu_quiet = std::chrono::seconds(60);     ///< a GPU that was bad must have been well for so long
  Duration report = Duration::max();                 ///< executors tell speeds so often where no heartbeat does it
  Duration retention = std::chrono::hours(1);        ///< tombstones are kept for so long, or until their limit
};
// clang-format on

/// A node that was silent for so long runs nothing any more, wherever the silence comes from: it
/// ended what it ran after `orphan` and the time to kill. Its clock may be 5 % slow and ours 5 %
/// fast, and frames may be `late`. 376 s by default.
[[nodiscard]] constexpr Duration lost_after(const Timers& t) {
  if (t.orphan == Duration::max()) return Duration::max();
  return (t.orphan + t.kill_grace + t.late) / 95 * 105;
}

/// What must be heard before `orphan` has passed is asked for often enough: with a shorter `orphan`
/// alone, a gang's owners would give up a home that they have not asked yet.
[[nodiscard]] constexpr Timers asking_within_orphan(Timers t) {
  t.reconfirm = std::min(t.reconfirm, t.orphan / 10);
  t.orphan_query = std::min(t.orphan_query, t.orphan / 10);
  t.heartbeat = std::min(t.heartbeat, t.orphan / 20);
  t.retry_max = std::min(t.retry_max, t.orphan / 10);
  t.retry_min = std::min(t.retry_min, t.retry_max);
  return t;
}

struct PeerAgent {
  AgentId agent;
  Partition partition;
};
/// An executor serves consecutive servers of one partition.
struct ExecutorServers {
  NodeId node;
  IndexRange servers;
};

struct AgentConfig {
  AgentId me;
  Incarnation incarnation{1};  ///< larger than in any earlier life
  Epoch epoch{1};
  std::vector<PeerAgent> flock;            ///< all agents, this one too, by AgentId
  std::vector<ExecutorServers> executors;  ///< of this agent's partition, by servers
  Limits limits;
  Timers timers;
  std::uint16_t protocol = kNewestProtocol;  ///< newest to be spoken; lower: as an earlier version
  /// What a calendar says at Instant 0 of this life, so that the next one can tell how long a job
  /// has waited: figures and seniority rest on it. Behind the journal's dates it is put right.
  /// None: waiting begins anew in every life.
  std::optional<Duration> calendar = std::nullopt;
  /// fingerprint_in() of what this node has read; 0: it is compared with none.
  std::uint64_t topology = 0;
  /// The only user that executors can run jobs as, because they are not root's processes; empty:
  /// any.
  std::string only_user;
  /// A new life starts no job before all its executors and peers have answered it, or this has
  /// passed: one of them may know that its state is an old copy, in which jobs wait that have run.
  Duration roll_call{0};
  /// In a flock of at most so many agents each tells all others of itself; in a larger one news
  /// travel by Gossip (agents/parts/gossip.h).
  std::uint32_t flood_most = 8;
};

struct ExecutorConfig {
  NodeId me;
  Incarnation incarnation{1};
  PartitionId partition;
  AgentId owner;  ///< of the partition
  IndexRange servers;
  Limits limits;
  Timers timers;
  std::uint16_t protocol = kNewestProtocol;  ///< as in AgentConfig
  /// What a clock that goes on over all lives says at Instant 0 of this one, so that time without a
  /// word is counted over restarts. None: each life counts anew.
  std::optional<Duration> calendar = std::nullopt;
  std::uint64_t topology = 0;  ///< as in AgentConfig
};

}  // namespace starling
