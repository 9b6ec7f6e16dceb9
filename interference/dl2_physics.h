// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "interference/speed.h"
#include "topology/topology.h"
#include "workload/dl2_models.h"

namespace starling {

/// How the tasks of one job lie: workers and parameter servers of each host.
struct Dl2Host {
  double workers = 0, servers = 0;
};
/// Steps a second of all workers together, in the form that DL2's simulator trains with (job.py of
/// the source that workload/dl2_models.h names):
///
///   w / max over hosts with workers of
///     compute + max(2 (S/p) max(p_n, w_n) / local, 2 (S/p) (p - p_n) / network,
///                   2 (S/p) (w - fewest workers of a host with servers) / network)
///
/// S megabytes, w workers and p servers in all, w_n and p_n on the host. A worker's batch is its
/// own however many there are. At least one worker and one server.
[[nodiscard]] double dl2_steps_per_s(const Dl2Model& model, std::span<const Dl2Host> hosts);

/// `--physics dl2`: a job of one of those models runs by that form, alone, whatever is beside it;
/// its parameter servers lie on the hosts of its workers, as evenly as may be. Best is the number
/// of hosts, of as many GPUs as the largest server has, that makes it fastest. Other models run as
/// in a trace and scale linearly. A start takes kDl2StartS, which is ours: DL2 changes sizes
/// without a restart. `topology` outlives it.
[[nodiscard]] std::unique_ptr<Physics> make_dl2_physics(const Topology& topology);
constexpr double kDl2StartS = 10;

}  // namespace starling
