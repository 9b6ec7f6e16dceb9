// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interference/speed.h"
#include "topology/bitmap_tree.h"
#include "topology/occupancy.h"

namespace starling {

/// The islands and racks of one partition by how much of them is free, so that the tightest is
/// found without a look at every server. Follows an Occupancy at the cost of what changed.
class TightPlaces {
 public:
  /// `server_gpus`: of the servers that count as whole ones.
  void follow(const Occupancy& gpus, std::uint32_t server_gpus);

  /// The `count` lowest free GPUs of the island with the fewest that has enough; ties to the server
  /// with the fewest, then to the lowest.
  [[nodiscard]] std::optional<Placement> island(std::uint32_t count) const;
  /// All GPUs of the `count` lowest wholly free servers of the rack with the fewest that has
  /// enough; ties to the lowest.
  [[nodiscard]] std::optional<Placement> rack(std::uint32_t count) const;

 private:
  void build(const Occupancy& gpus, std::uint32_t server_gpus);
  void update(std::uint32_t server);
  void forget(std::uint32_t server);
  void add(std::uint32_t server);
  void move_rack(std::uint32_t server, bool whole);
  /// Calls f(first GPU, free GPUs) for each island of a server.
  template <class F>
  void each_island(std::uint32_t server, F f) const;

  const Occupancy* gpus_ = nullptr;  // valid until the next follow()
  ChangeLog::Mark seen_;
  IndexRange servers_;
  std::uint32_t server_gpus_ = 0;
  std::uint32_t largest_ = 0;  // GPUs of a server
  // Servers below are counted from the partition's first.
  // [f * (largest_ + 1) + k]: servers of k free GPUs with an island that has f of them.
  std::vector<BitmapTree> by_free_;
  std::vector<std::uint32_t> by_free_count_;       // their number
  std::vector<std::vector<std::uint32_t>> filed_;  // by server: where it is in by_free_
  std::vector<bool> whole_;                        // by server
  std::uint32_t first_rack_ = 0;
  std::vector<std::uint32_t> whole_in_rack_;  // by rack from first_rack_ on
  std::vector<BitmapTree> racks_with_;        // [k]: racks with exactly k
};

}  // namespace starling
