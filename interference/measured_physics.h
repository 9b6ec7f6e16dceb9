// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "interference/speed.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// `--physics measured`: a job of one of Gavel's types (workload/gavel_throughput.h) runs as fast
/// as it was measured alone on so many GPUs of the slowest type of its placement, in units of the
/// fastest of K80, P100 and V100, wherever the GPUs are and whatever is beside it; on a type on
/// which it was not measured, as on the slowest on which it was. Other models run as in a trace.
/// Starting costs nothing. `topology` outlives it.
[[nodiscard]] std::unique_ptr<Physics> make_measured_physics(const Topology& topology);

/// Makes jobs of Gavel's types, which traces have as long as they take on V100s, as long as they
/// take on their fastest type, which is what this physics counts in; and lets those that say
/// nothing of types run only on those of `topology` on which they were measured, if there are any.
void run_as_measured(Trace& trace, const Topology& topology);

}  // namespace starling
