// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "gnn/train/decisions.h"
#include "gnn/train/trainable_system.h"
#include "nets/weights.h"

namespace starling {

/// How a net is fitted to decisions that were seen.
struct FitPolicyOptions {
  enum Target : std::uint8_t {
    probability,  ///< cross-entropy to SeenDecision::target
    cost  ///< the expected cost, in units of `scale_h`, cut at `cut` units; below 0: not known
  } target = probability;
  std::uint32_t epochs = 8, batch = 128;
  double rate = 2e-3;  ///< at first; falls along a half cosine
  double scale_h = 1, cut = 3;
  double entropy = 0.01;
  double kl_weight = 0.1;  ///< of the Kullback-Leibler divergence from what the net said before
  std::uint64_t seed = 1;
  std::function<void(std::uint32_t epoch, double loss)> progress;
};
struct FittedPolicy {
  Weights weights;
  double loss_before = 0, loss = 0;  ///< on the part that was held out
  double right_before = 0,
         right = 0;  ///< part of the held-out decisions where the net takes the best
  std::uint64_t decisions = 0;
};

/// A tenth of the decisions is held out. One thread; same input, same weights. `invalid` if there
/// are no decisions or the weights make no net.
[[nodiscard]] Result<FittedPolicy> fit_policy(const TrainableSystem& system, const Weights& start,
                                              const SeenDecisions& seen,
                                              const FitPolicyOptions& options);

}  // namespace starling
