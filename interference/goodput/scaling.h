// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "interference/goodput/profiles.h"

namespace starling {

/// What becomes of the batch where a job gets more replicas.
enum class BatchRule : std::uint8_t {
  strong,  ///< the same batch, divided among them
  weak,    ///< each replica has the same one, so that of all grows
  best,    ///< as best_batch() chooses, for one replica too
};

/// Progress per second of a job with the replicas, servers and tier of `where`, in that of one
/// replica. `batch`: of all replicas (strong) or of each (weak); best does not look at it. 0 where
/// the batch does not go with so many replicas: less than a sample each, or more than
/// profile.limits allow.
[[nodiscard]] double goodput_scaling(const GoodputProfile& profile, BatchRule rule, double batch,
                                     const StepShape& where, double done) noexcept;

/// What twice the workers are worth where exchanges cost nothing and each has a batch of its own:
/// progress of a batch twice as large, in that of `batch`. Between 1 and 2.
[[nodiscard]] double doubling_gain(double phi, double batch) noexcept;

/// Progress of a sample at `batch`, in that of one at `asked`, over a whole training: a training
/// whose samples come as fast takes 1/that as long, as each part of it takes its own. Above 1 for
/// smaller batches.
[[nodiscard]] double training_efficiency(const NoiseScale& noise, double asked,
                                         double batch) noexcept;

}  // namespace starling
