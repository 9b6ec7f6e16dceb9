// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace starling {

/// A share of a job: at least `low`, below 1, and times `gpus` of what there is.
struct BoundedShare {
  double low = 0;
  double gpus = 1;
};

/// The shares x, one for each, that make sum 2 log(x - low) + log(1 - x) + log(room - sum gpus x)
/// largest. The lower bounds weigh two as each stands for a second-order cone. Where room is all
/// used up by the lower bounds, these. Bounds are below 1 and fit.
[[nodiscard]] std::vector<double> analytic_centre(const std::vector<BoundedShare>& shares,
                                                  double room);

}  // namespace starling
