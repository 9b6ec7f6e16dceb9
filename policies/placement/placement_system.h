// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "policies/placement/room_maker.h"
#include "policies/placement/scorer.h"
#include "policies/queues/queue_walk.h"

namespace starling {

/// Which job comes first, and what is known of how long jobs take.
enum class PlacementOrder : std::uint8_t {
  arrival,
  /// The least GPU time that it may still take (RemainingTimes, by recurring-job group), then by
  /// arrival.
  forecast
};

/// What a placement policy is made of: PlacementPolicy runs it, and what searches, records or
/// imitates wraps a Chooser around it.
struct PlacementSystem {
  PolicyFacts facts;
  QueueOptions queue = {};
  PlacementOrder order = PlacementOrder::arrival;
  std::unique_ptr<Scorer> scorer = nullptr;
  bool forwards_by_speed =
      true;  ///< false: OverflowRouting moves jobs, also where the scorer knows speeds
  /// Gangs over several partitions may share GPUs, where the scorer knows speeds.
  bool shares_gangs = false;
  PlacementPowers may = {};
};

/// Of threshold=.
inline constexpr const char* kThresholdHelp =
    "a job waits while no place adds so much of its best speed, net of what others lose";
/// Reads gangs=.
[[nodiscard]] bool read_shares_gangs(OptionReader& reader);
/// Reads may= into the system and its facts.
void read_may(OptionReader& reader, PlacementSystem& system);
/// Reads order=.
[[nodiscard]] PlacementOrder read_placement_order(OptionReader& reader, PlacementOrder otherwise);

}  // namespace starling
