#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/time.h"
#include "topology/partition.h"

namespace starling {

// Node ids: agents first, then executors, then clients, so that a role can be told from the number in
// logs. The transport's allow-list, not the number, decides who a peer is.
constexpr std::uint32_t kFirstExecutor = 0x0100'0000;
constexpr std::uint32_t kFirstClient = 0x0200'0000;
[[nodiscard]] constexpr NodeId agent_node(AgentId a) { return NodeId{a.value + 1}; }
[[nodiscard]] constexpr NodeId executor_node(std::uint32_t i) { return NodeId{kFirstExecutor + i}; }
[[nodiscard]] constexpr NodeId client_node(std::uint32_t i) { return NodeId{kFirstClient + i}; }

/// Defaults of RELIABILITY section 10.
struct Timers {
  Duration heartbeat = std::chrono::milliseconds(500);
  Duration digest = std::chrono::seconds(1);         ///< at most this old; sent earlier when a wait could end
  Duration digest_min = std::chrono::milliseconds(0);///< at least this far apart; 0: at every change of free
  Duration hold = std::chrono::seconds(5);           ///< a reserved share lapses after this
  Duration bid = std::chrono::milliseconds(200);     ///< offers that come later are not waited for
  Duration start = std::chrono::seconds(30);         ///< Start to all Started, then drain
  Duration orphan_query = std::chrono::seconds(5);
  Duration retry_min = std::chrono::milliseconds(100);
  Duration retry_max = std::chrono::seconds(5);
  Duration kill_grace = std::chrono::seconds(10);
  Duration orphan = std::chrono::seconds(300);       ///< an executor ends what it can report to nobody
  Duration gpu_quiet = std::chrono::seconds(60);     ///< a GPU that was bad must have been well for so long
};

struct PeerAgent {
  AgentId agent;
  Partition partition;
};
/// An executor serves consecutive servers of one partition.
struct ExecutorSeat {
  NodeId node;
  IndexRange servers;
};

struct AgentConfig {
  AgentId me;
  Incarnation incarnation{1};          ///< larger than in any earlier life
  Epoch epoch{1};
  std::vector<PeerAgent> flock;        ///< all agents, this one too, by AgentId
  std::vector<ExecutorSeat> executors; ///< of this agent's partition, by servers
  Limits limits;
  Timers timers;
  std::uint16_t protocol = kNewestProtocol;  ///< newest to be spoken; lower: as an earlier version
};

struct ExecutorConfig {
  NodeId me;
  Incarnation incarnation{1};
  PartitionId partition;
  AgentId owner;                       ///< of the partition
  IndexRange servers;
  Limits limits;
  Timers timers;
  std::uint16_t protocol = kNewestProtocol;  ///< as in AgentConfig
};

}  // namespace starling
