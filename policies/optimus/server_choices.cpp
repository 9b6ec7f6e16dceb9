// SPDX-License-Identifier: Apache-2.0
#include "policies/optimus/server_choices.h"

#include <algorithm>
#include <cmath>

#include "interference/profile.h"

namespace starling {
namespace {

constexpr double kWorthMore = 1e-6;  // of a pace: below that the fewer are as good

std::uint32_t most_on_a_server(const Topology& topology, const Placement& placement) {
  std::uint32_t most = 0, here = 0;
  for (std::size_t i = 0; i < placement.size(); ++i) {
    const bool same =
        i > 0 && topology.server_of(placement[i]) == topology.server_of(placement[i - 1]);
    here = same ? here + 1 : 1;
    most = std::max(most, here);
  }
  return most;
}

Allocation search(const View& view, const JobSpec& job, const Placement& placement) {
  const auto gpus = static_cast<std::uint32_t>(placement.size());
  const JobProfile profile = profile_of(job, gpus);
  const auto by = [&](std::uint32_t servers) {
    return Allocation{gpus / std::max(job.gpus_per_worker, 1U), servers, 0, 0, false};
  };
  std::uint32_t best = profile.parameter_servers;
  double most = view.speed.pace(profile, placement, {}, by(best));
  // Further and further apart: a tenth more of many servers changes little.
  for (std::uint32_t servers = 1; servers <= job.run.max_servers;
       servers = std::max(servers + 1, servers + servers / 10)) {
    const double pace = view.speed.pace(profile, placement, {}, by(servers));
    const bool fewer = servers < best && pace >= most * (1 - kWorthMore);
    if (pace <= most * (1 + kWorthMore) && !fewer) continue;
    most = pace;
    best = servers;
  }
  return best == profile.parameter_servers ? Allocation{} : by(best);
}

}  // namespace

Allocation ServerChoices::best(const View& view, const JobSpec& job, const Placement& placement) {
  if (placement.empty() || job.run.max_servers == 0) return {};
  return known_.of(view.topology, job, placement, most_on_a_server(view.topology, placement),
                   [&] { return search(view, job, placement); });
}

}  // namespace starling
