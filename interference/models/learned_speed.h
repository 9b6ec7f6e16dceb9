// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "interference/adapt/shift_prior.h"
#include "interference/speed.h"
#include "nets/weights.h"

namespace starling {

/// The analytic form with what a trained network says of jobs that share a GPU or a server's cores,
/// and corrections learned from observe(); see docs/interference.md. Falls back to the analytic
/// model, and counts it, where it cannot answer. With a `prior` it adapts to hardware that it was
/// not trained for (interference/adapt/adaptive_corrections.h). `invalid` or `not_found` if the
/// weights are not such a network's.
[[nodiscard]] Result<std::unique_ptr<SpeedModel>> make_learned_speed(
    const Topology& topology, const Weights& weights, const ShiftPrior* prior = nullptr);
/// What stands in where no learned model can be made: the analytic one, every answer counted as a
/// fallback for that reason.
[[nodiscard]] std::unique_ptr<SpeedModel> make_fallback_speed(const Topology& topology,
                                                              const std::string& reason);

}  // namespace starling
