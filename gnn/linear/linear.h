// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "gnn/learned_scorer.h"

namespace starling {

/// The smallest learned system: the score of an option is five weights times five features of it.
/// It is the worked example of CONTRIBUTING.md and what tests train; no program carries it.
///
/// Tensor: weights [LinearFeature::count].
enum class LinearFeature : std::size_t {
  waits,           ///< 1: it waits
  speed,           ///< of the job's best, where it starts
  inflicted_loss,  ///< GPU speed that others lose, for each of its GPUs
  shares,          ///< 1: on GPUs of other jobs
  spread,          ///< 1: over servers wherever they are
  count
};
inline constexpr std::size_t kLinearFeatures = static_cast<std::size_t>(LinearFeature::count);

struct LinearObservation final : Observation {
  std::vector<float> rows;  ///< [options, kLinearFeatures]
};

}  // namespace starling
