// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "policies/fractional/gpu_shares.h"
#include "policies/fractional/pack_policy.h"

namespace starling {

/// Where a pod is.
struct Placed {
  std::uint32_t node = 0;
  GpuSet gpus = 0;
};

/// Places pods one after another: each on the node that the policy scores lowest, of equal ones on
/// the first in an order of nodes that never changes, or on one drawn anew where the policy wants
/// that. Scores are kept per demand and node and counted anew only for nodes that changed
/// since the demand was last asked about, so that a pod costs a scan over scores and few new ones.
/// After the constructor nothing is allocated.
class Packer {
 public:
  /// Scores that are kept, demands times nodes: 512 MiB of them.
  static constexpr std::size_t kScoresMost = std::size_t{1} << 26U;

  /// At most kScoresMost demands times nodes. The first three must outlive it. `ranks`: of each
  /// node, different from one another; of nodes that score alike the least is taken. Empty: the
  /// order is drawn.
  Packer(const ClusterSpec& cluster, const Demands& demands, const Fragmentation& measure,
         std::unique_ptr<PackPolicy> policy, Rng rng, std::span<const std::uint32_t> ranks = {});

  /// Nothing, and nothing changed, if it fits on no node. `demand` is an index into Demands::all.
  std::optional<Placed> place(std::uint32_t demand);
  /// A pod of that demand leaves.
  void remove(std::uint32_t demand, const Placed& where);

  [[nodiscard]] const GpuShares& shares() const noexcept { return shares_; }

 private:
  /// All scores of the demand, by place.
  std::span<const std::int64_t> refresh(std::uint32_t demand);
  /// One of the best places, drawn.
  std::uint32_t draw(std::span<const std::int64_t> scores);
  void touch(std::uint32_t node) noexcept;
  [[nodiscard]] std::int64_t score(std::uint32_t node, const PodDemand& demand) const;

  const Demands& demands_;
  std::unique_ptr<PackPolicy> policy_;
  Rng rng_;
  GpuShares shares_;
  std::vector<std::uint32_t> nodes_;    ///< place by place: nodes by rank
  std::vector<std::uint32_t> places_;   ///< of each node
  std::vector<std::int64_t> scores_;    ///< by demand and place
  std::vector<std::uint32_t> changed_;  ///< a ring of the latest nodes that changed
  std::uint64_t changes_ = 0;           ///< so many there ever were
  std::vector<std::uint64_t> seen_;     ///< by demand: the changes its scores know
};

}  // namespace starling
