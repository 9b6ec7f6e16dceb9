// SPDX-License-Identifier: Apache-2.0
#include "sim/published/openb/openb_run.h"

#include <cmath>

#include "policies/fractional/packer.h"
#include "sim/published/openb/openb_curve.h"

namespace starling {

std::vector<double> run_openb(const ClusterSpec& cluster, const OpenbList& list,
                              const OpenbDraw& draw, const std::string& policy) {
  const Demands demands = find_demands(list.pods, cluster);
  const Fragmentation measure(typical_demands(list.pods, cluster), list.pods.size());
  Packer packer(cluster, demands, measure, make_pack_policy(policy, cluster, measure),
                Rng(draw.seed), draw.ranks);
  std::vector<PackStep> steps;
  for (const std::uint32_t pod : draw.pods)
    steps.push_back({pod, false, static_cast<std::uint32_t>(steps.size())});
  const auto events = pack(packer, demands, steps, [](std::size_t) {});
  return allocation_curve(events, cluster.gpu_milli(), kOpenbPoints);
}

std::size_t equal_points(const std::vector<double>& ours, const std::vector<double>& published) {
  constexpr double kHalf = 0.005 + 1e-9;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < published.size(); ++i)
    equal += std::abs(ours[i] - published[i]) <= kHalf ? 1 : 0;
  return equal;
}

}  // namespace starling
