// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gnn/learned_scorer.h"
#include "gnn/marl/encoder.h"

namespace starling {

/// What MarlScorer keeps of a decision.
struct MarlObservation final : Observation {
  std::shared_ptr<const GraphShape> shape;  ///< of the partition
  GraphState graph;                         ///< empty where the net has no encoder
  std::vector<float> own;                   ///< [options, Features::kOwn]
  std::vector<float> others;  ///< [options, EncoderNet::kWidth]; empty where there is no encoder
  std::vector<std::vector<std::uint32_t>> servers, groups;  ///< by option: of its place
};

}  // namespace starling
