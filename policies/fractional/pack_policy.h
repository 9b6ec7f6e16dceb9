// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "policies/fractional/demand.h"
#include "policies/fractional/fragmentation.h"

namespace starling {

/// A node as a policy sees it.
struct PackNode {
  FreeNode free;
  std::int64_t fragments = 0;           ///< of this node now
  std::span<const std::uint32_t> pods;  ///< with a GPU that are here now, by PodDemand::kind()
};

/// On which node a pod goes and on which of its GPUs. Stateless: both answers depend on the
/// arguments alone, so that a score stays good until the node changes.
class PackPolicy {
 public:
  virtual ~PackPolicy() = default;
  /// Lower is better; below kNoFit. Asked only where `demand` fits.
  [[nodiscard]] virtual std::int64_t score(const PackNode& node, const PodDemand& demand) const = 0;
  /// demand.gpus of the node's GPUs with at least demand.gpu_milli each. Asked only where it fits.
  [[nodiscard]] virtual GpuSet gpus(const PackNode& node, const PodDemand& demand,
                                    Rng& rng) const = 0;
  /// Of nodes that score alike, is one drawn for each pod?
  [[nodiscard]] virtual bool draws_nodes() const { return false; }
};
constexpr std::int64_t kNoFit = INT64_MAX;

/// The names of all policies: fgd, best-fit, dot-product, gpu-packing, gpu-clustering, random,
/// worst-fit. What each does stands in pack_policies.cpp, of gpu-packing and gpu-clustering in
/// gpu_tiers.cpp, of fgd in fgd.cpp.
[[nodiscard]] std::vector<std::string> pack_policy_names();
/// Null for another name. `fragmentation` and `cluster` must outlive the policy.
[[nodiscard]] std::unique_ptr<PackPolicy> make_pack_policy(std::string_view name,
                                                           const ClusterSpec& cluster,
                                                           const Fragmentation& fragmentation);

}  // namespace starling
