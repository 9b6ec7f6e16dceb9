// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "scheduling/packing.h"
#include "scheduling/policy.h"

namespace starling {

/// What a job asks of the servers of another partition.
struct RemoteNeed {
  std::uint32_t gpus = 1;
  std::uint32_t worker = 1;  ///< GPUs that stay on one server
  Demand each;               ///< beside each of them
  bool typed = false;
  std::vector<GpuTypeId> types = {};  ///< if so, those that it may have

  [[nodiscard]] bool allows(GpuTypeId type) const noexcept;
};
[[nodiscard]] RemoteNeed need_of(const JobSpec& job, const Topology& topology);

/// rooms_of() another partition, less what this one has asked for since.
class RemoteRooms {
 public:
  RemoteRooms() = default;  ///< nothing is known
  RemoteRooms(const Topology& topology, const RemoteDigest& digest);
  [[nodiscard]] bool known() const noexcept { return known_; }

  /// There is room for the job now, placed as `fit` says. `shape`: shape_for() of the partition;
  /// `in_pieces`: goes_in_pieces() there. Where servers differ in size it may hope for too much: a
  /// digest does not tell what is left of a large server from all of a small one.
  [[nodiscard]] bool start(const RemoteNeed& need, Fit fit, const Shape& shape,
                           bool in_pieces) const;
  /// GPUs that go with such a job, in whole workers; of one type or of all that it may have.
  [[nodiscard]] std::uint64_t gpus(const RemoteNeed& need,
                                   std::optional<GpuTypeId> type = std::nullopt) const;
  /// The most of them on one server.
  [[nodiscard]] std::uint32_t largest(const RemoteNeed& need,
                                      std::optional<GpuTypeId> type = std::nullopt) const;
  /// Such a job sits there, as tightly as it goes; as much of it as there is room for.
  void take(const RemoteNeed& need);

 private:
  [[nodiscard]] bool start_over(const RemoteNeed& need, const Shape& shape) const;

  std::vector<ServerRoom> rooms_;
  bool known_ = false;
};

/// What other partitions could give a job when everything there is free; kept, for it stays so.
class RemoteCapacity {
 public:
  struct Most {
    Shape shape;             ///< shape_for()
    bool holds = false;      ///< place() would find room
    bool in_pieces = false;  ///< goes_in_pieces()
  };
  /// `look`: QueueEntry::look of the job.
  [[nodiscard]] const Most& of(const Topology& topology, const RemoteDigest& digest,
                               std::uint32_t look, const JobSpec& job, Fit fit);
  /// GPUs of one type, in whole workers.
  [[nodiscard]] std::uint64_t gpus(const Topology& topology, const RemoteDigest& digest,
                                   std::uint32_t look, const RemoteNeed& need, GpuTypeId type);

 private:
  struct Key {
    AgentId agent;
    IndexRange servers;
    std::uint32_t look = 0;
    GpuTypeId type;
    friend bool operator<(const Key& a, const Key& b) noexcept {
      return std::tie(a.agent, a.servers.first, a.servers.last, a.look, a.type) <
             std::tie(b.agent, b.servers.first, b.servers.last, b.look, b.type);
    }
  };
  std::map<Key, Most> most_;
  std::map<Key, std::uint64_t> gpus_;
};

}  // namespace starling
