// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "interference/pairs/pair_data.h"
#include "nets/weights.h"

namespace starling {

/// How a PairNet is fitted. The priors are weights of squared parameters against summed errors.
struct PairTrainOptions {
  std::uint32_t members = 5;
  std::uint32_t width = 8;  ///< of an embedding
  std::uint32_t hidden = 16;
  std::uint32_t epochs = 1200;
  double rate = 1e-2;      ///< at first; falls along a half cosine
  double round = 0.02;     ///< errors below this count by their square
  double prior = 0.02;     ///< on what types share
  double own_prior = 0.3;  ///< on what a single type, or a model in one set, adds
  double nuisance_prior = 1.2;
  double unknown = 0.1;  ///< part of the steps in which a type, or its model too, is hidden
  std::uint64_t seed = 1;
};

/// Trains all members on the rows for which `used` is true (all, if it is empty) and puts their
/// tensors and the table of types into `weights` under the prefix. One thread; same input, same
/// weights.
void train_pairs(const PairData& data, const std::vector<bool>& used,
                 const PairTrainOptions& options, const std::string& prefix, Weights& weights,
                 const std::function<void(std::uint32_t epoch, double loss)>& progress = {});

}  // namespace starling
