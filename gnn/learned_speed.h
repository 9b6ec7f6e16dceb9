#pragma once

#include <memory>

#include "base/result.h"
#include "interference/speed.h"
#include "nets/weights.h"
#include "topology/topology.h"

namespace starling {

/// A speed model that asks a trained network (`starling-train speed`). Its uncertainty is the
/// network's validation error. One thread at a time. `invalid` or `not_found` if the weights are of
/// something else.
[[nodiscard]] Result<std::unique_ptr<SpeedModel>> make_learned_speed(const Topology& topology,
                                                                     const Weights& weights);

}  // namespace starling
