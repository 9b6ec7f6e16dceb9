// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topology/bitmap_tree.h"
#include "topology/occupancy.h"
#include "topology/placement.h"
#include "topology/type_room.h"

namespace starling {

/// The free GPUs of one partition, ordered so that the usual places for a gang are found without a
/// look at every server: by GPU type, and on each type by how many are free. Kind 0 is all servers,
/// and where the types differ kind 1, 2, ... are those of one type, by name of type id.
///
/// Follows an Occupancy: sync() costs what changed there; between two of them take() notes what was
/// given away. Answers are ascending and deterministic: ties go to the lowest server.
/// Workers of `worker` GPUs are not split over servers unless one is larger than any server.
class FreeServers {
 public:
  void sync(const Occupancy& gpus);
  void take(const Placement& placement);

  [[nodiscard]] std::uint32_t kinds() const noexcept {
    return static_cast<std::uint32_t>(kinds_.size());
  }
  [[nodiscard]] GpuTypeId type(std::uint32_t kind) const { return kinds_[kind].type; }
  [[nodiscard]] std::uint32_t free_count(std::uint32_t kind) const { return kinds_[kind].free; }
  [[nodiscard]] std::uint32_t free_on(std::uint32_t server) const { return free_[server]; }
  /// What there is of every type, ascending by type.
  void rooms(std::vector<TypeRoom>& out) const;
  /// Grows whenever the number of free GPUs of a server changes, or of those that one job has and
  /// another may join.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  /// Servers of which that is so since this was last asked.
  [[nodiscard]] std::vector<std::uint32_t> take_changed() { return std::exchange(changed_, {}); }
  /// Free in the Occupancy and not taken since.
  [[nodiscard]] bool is_free(GpuId gpu) const {
    return gpus_->is_free(gpu) && !planned_[gpu.value - gpus_->gpus().first];
  }

  /// Servers of a kind with exactly that many free GPUs, counted from the partition's first.
  [[nodiscard]] const BitmapTree& servers_with(std::uint32_t kind, std::uint32_t free) const {
    return kinds_[kind].by_free[free];
  }
  [[nodiscard]] std::uint32_t largest_server(std::uint32_t kind) const {
    return static_cast<std::uint32_t>(kinds_[kind].by_free.size()) - 1;
  }
  /// On one server: the one with the fewest free GPUs that has enough; the one with the most.
  [[nodiscard]] std::optional<Placement> best_fit(std::uint32_t kind, std::uint32_t count) const;
  [[nodiscard]] std::optional<Placement> emptiest(std::uint32_t kind, std::uint32_t count) const;
  /// On as few servers as now possible: one by best fit, else the emptiest and the rest by best
  /// fit.
  [[nodiscard]] std::optional<Placement> tight(std::uint32_t kind, std::uint32_t count,
                                               std::uint32_t worker) const;
  /// The same within one scale-up domain or else one rack, the one with the fewest free GPUs that
  /// has enough.
  [[nodiscard]] std::optional<Placement> in_rack(std::uint32_t kind, std::uint32_t count,
                                                 std::uint32_t worker) const;
  /// Worker by worker, each on the server that is emptiest then.
  [[nodiscard]] std::optional<Placement> spread(std::uint32_t kind, std::uint32_t count,
                                                std::uint32_t worker) const;
  /// tight(), if that takes no more servers than it would in the empty partition.
  [[nodiscard]] std::optional<Placement> fewest_possible(std::uint32_t kind, std::uint32_t count,
                                                         std::uint32_t worker) const;
  /// The `count` GPUs of `from`, all of one server, that lie on the fewest islands, ascending.
  [[nodiscard]] static Placement on_islands(const Topology& topology, Placement from,
                                            std::uint32_t count);

 private:
  struct Kind {
    GpuTypeId type;
    std::vector<BitmapTree> by_free;        // by_free[k]: servers with exactly k free
    std::vector<std::uint32_t> servers_of;  // servers_of[k]: servers of k GPUs
    std::map<std::uint32_t, std::uint32_t> rack_free;
    std::map<std::uint32_t, std::uint32_t> domain_free;
    std::uint32_t free = 0, open = 0;
  };
  struct Part {
    std::uint32_t server, gpus;
  };
  void build(const Occupancy& gpus);
  /// What the Occupancy says of that server of the topology.
  void read(std::uint32_t server);
  void note(std::uint32_t server);
  void move(std::uint32_t server, std::uint32_t to);
  void set_open(std::uint32_t server, std::uint32_t to);
  [[nodiscard]] static std::uint32_t whole(std::uint32_t gpus, std::uint32_t worker) {
    return worker <= 1 ? gpus : gpus / worker * worker;
  }
  [[nodiscard]] std::uint32_t fewest_servers(std::uint32_t kind, std::uint32_t count,
                                             std::uint32_t worker) const;
  /// The size of a piece that must stay on one server.
  [[nodiscard]] std::uint32_t piece(const Kind& kind, std::uint32_t worker) const;
  [[nodiscard]] Placement pick(std::uint32_t server, std::uint32_t count) const;
  [[nodiscard]] Placement collect(std::vector<Part> parts) const;
  /// The fewest of `servers`, which come by free GPUs, most first.
  [[nodiscard]] std::optional<Placement> fewest(std::span<const Part> servers, std::uint32_t count,
                                                std::uint32_t worker) const;
  /// Within one of `places`, which say how many are free; their servers are range_of(place).
  template <class F>
  [[nodiscard]] std::optional<Placement> within(
      const std::map<std::uint32_t, std::uint32_t>& places, F range_of, std::uint32_t kind,
      std::uint32_t count, std::uint32_t worker) const;
  [[nodiscard]] std::vector<Part> most_free(const Kind& kind, std::uint32_t count,
                                            std::uint32_t limit) const;

  const Occupancy* gpus_ = nullptr;  // valid between two sync()
  IndexRange servers_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> kind_of_;   // by server; 0: there is but one type
  std::vector<std::uint32_t> free_;      // by server
  std::vector<std::uint32_t> joinable_;  // by server: GPUs of one tenant with room for another
  std::vector<bool> planned_;            // by GPU
  std::vector<GpuId> planned_list_;
  std::vector<std::uint32_t> changed_;
  ChangeLog::Mark seen_;  // of the Occupancy
  std::uint64_t version_ = 0;
};

}  // namespace starling
