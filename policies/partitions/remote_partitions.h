// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/partitions/remote_rooms.h"
#include "scheduling/policy.h"

namespace starling {

/// GPUs of one type of another partition.
struct RemoteType {
  GpuTypeId type;
  std::uint32_t gpus = 0;
  std::uint32_t free = 0;
  std::uint32_t largest = 0;  ///< of the free ones, on one server
  std::uint32_t open = 0;     ///< that a second job may join
  double price = 0;           ///< TypePrice::value, and what was forwarded since
};

/// Another partition as it may be now: what it said of itself, less what was forwarded to it since.
struct RemotePartition {
  AgentId agent;
  std::uint32_t gpus = 0;
  std::uint32_t free = 0;
  std::uint32_t largest = 0;             ///< RemoteDigest::largest_free_server
  std::uint32_t whole = 0;               ///< RemoteDigest::whole_free_servers
  std::uint32_t waiting = 0;             ///< jobs, as it said
  std::uint64_t waiting_gpus = 0;        ///< wanted by those, and by jobs forwarded to it since
  std::uint32_t distance = 0;            ///< of its number after this agent's, around all; unique
  const RemoteDigest* digest = nullptr;  ///< valid while begin()'s view is
  bool priced = false;                   ///< it says prices, or is idle and has yet to say one
  std::uint32_t first_type = 0, last_type = 0;
};

/// What the digests say of the other partitions, for policies that forward jobs.
///
/// Digests older than kFresh are left out. Room that a job was forwarded to is remembered until
/// the digest of its partition says something new, or kPledge has passed.
class RemotePartitions {
 public:
  static constexpr Duration kFresh = std::chrono::minutes(5);
  static constexpr Duration kPledge = std::chrono::seconds(5);

  /// Reads the digests whose version it does not know. O(agents), and of those that it reads O(GPU
  /// types and rooms). False: there is none. `server`: GPUs of the commonest server, which
  /// RemotePartition::whole counts.
  bool begin(const View& view, std::uint32_t server);
  /// By distance.
  [[nodiscard]] std::span<const RemotePartition> all() const noexcept { return peers_; }
  [[nodiscard]] bool any() const noexcept { return !peers_.empty(); }
  [[nodiscard]] std::size_t count() const noexcept { return peers_.size(); }
  /// Grows whenever a peer's digest changes, and with every job forwarded.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

  /// Ascending. Of a partition that does not say what it has of each, the totals where it has one.
  [[nodiscard]] std::span<const RemoteType> types(const RemotePartition& peer) const {
    return std::span(types_).subspan(peer.first_type, peer.last_type - peer.first_type);
  }
  /// GPU types that are here or elsewhere, ascending.
  [[nodiscard]] std::span<const GpuTypeId> all_types() const noexcept { return all_types_; }
  /// Its servers with free GPUs, read when they are asked for.
  [[nodiscard]] const RemoteRooms& servers(const View& view, const RemotePartition& peer);
  /// What it has when everything there is free.
  [[nodiscard]] RemoteCapacity& capacity() noexcept { return capacity_; }

  /// Gives the job, which waits here, to that partition, where `need` counts as taken.
  void forward(const View& view, const JobView& job, AgentId to, RemoteNeed need,
               std::vector<Decision>& out);
  /// A job will be forwarded to it: the same of its need.
  void note_forward(const View& view, AgentId to, RemoteNeed need);

 private:
  /// What of a partition stays as it is.
  struct Known {
    AgentId agent;
    IndexRange servers;
    std::vector<RemoteType> types;  // free: 0
  };
  struct Pledge {
    AgentId agent;
    RemoteNeed need;
    std::uint64_t digest = 0;  // hash of what the agent had said
    Instant at;
  };
  /// By position in View::others.
  struct Seat {
    AgentId agent;
    IndexRange servers;
    std::size_t peer = kNone;  // in peers_
  };
  static constexpr std::size_t kNone = ~std::size_t{0};
  /// What was read of a peer's digest.
  struct Read {
    std::uint64_t version = 0, hash = 0;
    bool stands = false;  // peers_ and types_ have it, less what was pledged
    RemoteRooms servers;  // known() once asked for
  };
  [[nodiscard]] const Known& known(const View& view, AgentId agent, IndexRange servers);
  /// A partition that is heard of is as it was at the last call.
  [[nodiscard]] bool same_flock(const View& view, std::uint32_t server) const;
  void list_flock(const View& view, std::uint32_t server);
  void drop_old_pledges(Instant now);
  /// True: its hash is another one.
  bool read(const View& view, const RemoteDigest& digest, std::size_t peer);
  void read_types(const View& view, const RemoteDigest& digest, const RemotePartition& peer);
  void use(RemotePartition& peer, const RemoteNeed& need);
  [[nodiscard]] std::size_t index_of(const RemotePartition& peer) const {
    return static_cast<std::size_t>(&peer - peers_.data());
  }

  std::vector<Seat> seats_;
  AgentId me_;
  IndexRange own_servers_;
  std::vector<RemotePartition> peers_;
  std::vector<Read> read_;  // by peer
  std::vector<RemoteType> types_;
  std::vector<GpuTypeId> all_types_;
  std::vector<Known> known_;  // by agent
  std::vector<Pledge> pledges_;
  RemoteCapacity capacity_;
  std::uint32_t server_ = 1;
  std::uint64_t version_ = 1, seen_ = 0;
};

}  // namespace starling
