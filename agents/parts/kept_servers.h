// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "topology/occupancy.h"

namespace starling {

/// The servers of one partition that are kept for the job whose turn it is (agents/home/turn.h): no
/// more than hold what it asks of this partition. Nothing else starts there, so they become free as
/// what runs on them ends; on all other servers everything goes on as ever.
class KeptServers {
 public:
  struct Candidate {
    ServerId server;
    std::uint32_t gpus = 0;  ///< that the job could have there if no other were on it
    Instant free_at;         ///< when no job is likely to be on it any more
  };

  /// Keeps those that are likely to be free first and together have `gpus`: of the rack that has
  /// them soonest, of the whole partition where no rack has so many; all where they are too few.
  void choose(const Topology& topology, std::vector<Candidate> candidates, std::uint32_t gpus);
  /// Ids that name no GPU are none of them.
  [[nodiscard]] bool any_of(std::span<const GpuId> gpus, const Topology& topology) const;
  [[nodiscard]] bool contains(ServerId server) const;
  /// Ascending.
  [[nodiscard]] std::span<const ServerId> servers() const noexcept { return servers_; }

  /// What all other jobs may use of `gpus`: the kept servers are blocked in it. Costs as much as
  /// has changed since the last call. Stands until the next call.
  [[nodiscard]] const Occupancy& rest_of(const Occupancy& gpus);

 private:
  std::vector<ServerId> servers_;
  std::optional<Occupancy> rest_;
};

}  // namespace starling
