#pragma once

#include <memory>

#include "interference/speed.h"
#include "topology/topology.h"

namespace starling {

/// `--physics trace`: every job runs for the duration its trace gives, wherever it is placed.
[[nodiscard]] std::unique_ptr<Physics> make_trace_physics();
/// `--physics full`: Pollux' iteration-time form over four tiers, host contention and shared links;
/// see interference/iteration.h. startup_s is 10 s for image and start, and up to 20 s more to
/// restore the state.
[[nodiscard]] std::unique_ptr<Physics> make_full_physics(const Topology& topology);
/// The analytic speed model: the same form as the full physics, without its noise and hidden
/// factors.
[[nodiscard]] std::unique_ptr<SpeedModel> make_analytic_speed(const Topology& topology);
/// Every placement is as good as every other: what belongs to `--physics trace`.
[[nodiscard]] std::unique_ptr<SpeedModel> make_flat_speed();

}  // namespace starling
