// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "scheduling/policy.h"

namespace starling {

/// A job of a round, by one configuration.
struct SiaGrant {
  const JobView* job = nullptr;
  GpuTypeId type;
  std::uint32_t gpus = 1;
  bool stays = false;                             ///< runs by it, and better where it is
  std::optional<Placement> place = std::nullopt;  ///< the answer; nothing: there is no room
};

/// Where a configuration has room, if anywhere.
using SiaFinder = std::function<std::optional<Placement>(const Occupancy&, const SiaGrant&)>;

/// Gives the grants their places (Sia, section 3.4: part of a server is never split, whole servers
/// are whole): those that stay keep their own, the others get theirs from the largest on. Where one
/// finds none, since the partition is in pieces, smaller ones that would stay make room and are
/// placed anew: on the servers where the fewest GPUs have to be left. Where all sizes and the sizes
/// of servers are powers of two and all may move, jobs that are together no more than there is of
/// their type all find a place. `planned`: the partition without all of them; in the end with them.
void place_grants(Occupancy& planned, std::vector<SiaGrant>& grants, const SiaFinder& find);

}  // namespace starling
