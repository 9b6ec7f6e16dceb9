// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "interference/goodput/step_time.h"

namespace starling {

/// One measured step.
struct StepSample {
  StepShape shape;
  double step_s = 0;
};

/// The constants of one model on one kind of machine that come nearest to the samples, by the mean
/// of |log(fitted / measured)|. Samples of one GPU, of one server and of several count with the
/// root of their number, for each kind carries constants of its own, and there are few of the
/// first. `further`: with bend and crowd_s; else they are as in the paper. Several servers are
/// never faster between two replicas than one; racks, which were not measured, are as servers of
/// one. At least one sample. Deterministic.
[[nodiscard]] StepTime fit_step_time(std::span<const StepSample> samples, bool further);

/// Mean of |fitted - measured| / measured; 0 for none.
[[nodiscard]] double mean_relative_error(const StepTime& time, std::span<const StepSample> samples);

}  // namespace starling
