// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "topology/bitmap_tree.h"
#include "topology/change_log.h"
#include "topology/demand.h"
#include "topology/topology.h"

namespace starling {

/// How many jobs sit on each GPU of one partition (a range of servers). A GPU is free (no job on
/// it), shared (a job, and room for another), or full; whatever it is, it may be blocked
/// besides, and then takes none. Beside GPUs jobs take CPUs and memory of their servers, as much
/// as they ask for with each GPU; a server that does not say what it has (0) gives any amount. All
/// updates O(log n) in the number of servers. GPU ids are those of the whole topology. Order of
/// answers is part of the guarantee (lowest first).
class Occupancy {
 public:
  /// At most `jobs_per_gpu` (1 to 127) jobs on a GPU.
  Occupancy(const Topology& topology, IndexRange servers, std::uint32_t jobs_per_gpu = 1);

  [[nodiscard]] const Topology& topology() const noexcept { return topology_; }
  [[nodiscard]] IndexRange servers() const noexcept { return servers_; }
  [[nodiscard]] IndexRange gpus() const noexcept { return gpus_; }
  [[nodiscard]] std::uint32_t jobs_per_gpu() const noexcept { return jobs_per_gpu_; }
  /// GPUs that are free; that have a tenant.
  [[nodiscard]] std::uint32_t free_count() const noexcept { return free_; }
  [[nodiscard]] std::uint32_t busy_count() const noexcept { return busy_; }
  [[nodiscard]] std::uint32_t free_on(ServerId server) const noexcept;
  /// No job on it, and not blocked.
  [[nodiscard]] bool is_free(GpuId gpu) const noexcept;
  [[nodiscard]] std::uint32_t tenants(GpuId gpu) const noexcept;
  /// Another job may join.
  [[nodiscard]] bool has_room(GpuId gpu) const noexcept;
  [[nodiscard]] bool is_blocked(GpuId gpu) const noexcept;

  /// One job more on each of `gpus`, which must not be full; one less, which must have one.
  /// Anything else is a broken invariant. Blocked ones keep count too. `each`: what the job takes,
  /// or took, with each of them; no more than there is by room_on(), unless it is there already.
  void take(std::span<const GpuId> gpus, Demand each = {});
  void give_back(std::span<const GpuId> gpus, Demand each = {});
  /// With how many GPUs the CPUs and the memory that the server has left go; kAnyNumber: with any.
  static constexpr std::uint32_t kAnyNumber = ~0U;
  [[nodiscard]] std::uint32_t room_on(ServerId server, Demand each) const noexcept;
  /// The same of a server on which no job is.
  [[nodiscard]] static std::uint32_t room_of(const Server& server, Demand each) noexcept;
  /// Free GPUs of a server that a job can have that needs `each`.
  [[nodiscard]] std::uint32_t free_on(ServerId server, Demand each) const noexcept;
  /// There are CPUs and memory enough for a job on `gpus`, ascending, of this partition or not, if
  /// it gives back what it has on `own`, ascending.
  [[nodiscard]] bool has_means(std::span<const GpuId> gpus, Demand each,
                               std::span<const GpuId> own = {}) const noexcept;
  /// What jobs have taken of a server.
  [[nodiscard]] Demand taken_on(ServerId server) const noexcept;
  /// Jobs have taken CPUs or memory of any server. Constant time.
  [[nodiscard]] bool any_taken() const noexcept { return taking_ > 0; }
  /// Repeats change nothing. True if anything became free, or ceased to be.
  bool block(IndexRange servers) { return set_blocked(servers, true); }
  bool unblock(IndexRange servers) { return set_blocked(servers, false); }
  /// The same for one GPU.
  bool set_blocked(GpuId gpu, bool to);

  /// The `count` lowest free GPUs; nothing if there are fewer.
  [[nodiscard]] std::optional<std::vector<GpuId>> lowest_free(std::uint32_t count) const;
  /// The server with the fewest free GPUs that still has `count`, ties to the lowest index.
  [[nodiscard]] std::optional<ServerId> best_fit(std::uint32_t count) const;
  /// The `count` lowest free GPUs of one server. Requires free_on(server) >= count.
  [[nodiscard]] std::vector<GpuId> free_gpus(ServerId server, std::uint32_t count) const;
  /// Wholly free servers with exactly `gpus_per_server` GPUs, lowest first, at most `limit`.
  [[nodiscard]] std::vector<ServerId> whole_free_servers(std::uint32_t gpus_per_server,
                                                         std::uint32_t limit) const;
  /// How many there are. Constant time.
  [[nodiscard]] std::uint32_t whole_free_count(std::uint32_t gpus_per_server) const noexcept;
  /// The lowest server from `from` on with exactly, or with at least one of, so many free GPUs.
  [[nodiscard]] std::optional<ServerId> with_free(std::uint32_t free, ServerId from) const;
  [[nodiscard]] std::optional<ServerId> with_any_free(ServerId from) const;
  /// [k]: servers of k GPUs, free or not.
  [[nodiscard]] std::span<const std::uint32_t> sizes() const noexcept { return sizes_; }
  /// The most free GPUs that any one server has.
  [[nodiscard]] std::uint32_t largest_free_server() const noexcept;
  /// histogram[k] = servers with exactly k free GPUs (k from 1), for digests; k above 16 counts
  /// as 16.
  [[nodiscard]] std::array<std::uint32_t, 17> free_histogram() const noexcept;

  /// Becomes equal to `other`, which is of the same servers and limits, at the cost of what
  /// changed on either side since the last follow(), unless that is an eighth of all servers.
  void follow(const Occupancy& other);
  /// The servers on which anything changed, by index in the topology.
  [[nodiscard]] const ChangeLog& changes() const noexcept { return log_; }

 private:
  [[nodiscard]] std::uint32_t relative(ServerId server) const noexcept;
  void change(std::span<const GpuId> gpus, Demand each, bool more);
  bool set_blocked(IndexRange servers, bool to);
  /// Blocks GPUs of one server, given relative to the partition. True if its free ones changed.
  bool block_on(std::uint32_t server, IndexRange gpus, bool to);
  /// The bit of a GPU in free_bits_ follows from its state.
  void update_free_bit(std::uint32_t gpu) noexcept;
  void move_server(std::uint32_t server, std::uint32_t free_before, std::uint32_t free_after);
  void append_free(std::uint32_t server, std::uint32_t count, std::vector<GpuId>& out) const;
  void set_taken(std::uint32_t server, Demand to);
  void copy_server(const Occupancy& other, std::uint32_t server);

  Topology topology_;
  IndexRange servers_;
  IndexRange gpus_;
  std::uint32_t jobs_per_gpu_ = 1;
  std::uint32_t free_ = 0, busy_ = 0;
  // Servers and GPUs below are relative to the partition.
  std::vector<std::uint64_t> free_bits_;  // by GPU
  std::vector<std::uint8_t> state_;       // by GPU: tenants, and kBlocked
  std::vector<std::uint32_t> free_per_server_;
  std::vector<Demand> taken_;                 // by server
  std::uint32_t taking_ = 0;                  // servers of which something is taken
  BitmapTree any_free_;                       // servers with a free GPU
  std::vector<BitmapTree> by_free_;           // by_free_[k]: servers with exactly k free
  std::vector<std::uint32_t> by_free_count_;  // their number
  std::vector<BitmapTree> whole_;             // whole_[k]: wholly free servers of k GPUs
  std::vector<std::uint32_t> whole_count_;    // their number
  std::vector<std::uint32_t> sizes_;          // by GPUs of a server
  ChangeLog log_;
  ChangeLog::Mark other_seen_, own_seen_;  // at the last follow()
  std::vector<std::uint32_t> touched_;     // scratch of follow()
};

}  // namespace starling
