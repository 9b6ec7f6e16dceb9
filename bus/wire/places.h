// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "agents/config.h"
#include "base/ids.h"

namespace starling {

/// Callers share the flock's client places: those with a place's key may call from many processes
/// at once, each a session of that place with a node id of its own. Session 0 is the place itself,
/// which agents of any version know; an agent that knows no sessions answers the process of a place
/// spoke last.
///
/// Which place a caller has is proven by its key. Which of the place's sessions it is, it says
/// itself, in the name of its connection: none but holders of one key can be mixed up.
inline constexpr std::uint32_t kPlaces = 1U << 16U;    ///< client places of a flock
inline constexpr std::uint32_t kSessions = 1U << 12U;  ///< of one place, with session 0

/// The place of a caller; other nodes are their own.
[[nodiscard]] constexpr NodeId place_of(NodeId node) noexcept {
  if (node.value < kFirstClient) return node;
  return NodeId{kFirstClient + (node.value - kFirstClient) % kPlaces};
}
/// Which session of its place a caller is.
[[nodiscard]] constexpr std::uint32_t session_of(NodeId node) noexcept {
  return node.value < kFirstClient ? 0 : (node.value - kFirstClient) / kPlaces;
}
[[nodiscard]] constexpr NodeId session_node(NodeId place, std::uint32_t session) noexcept {
  return NodeId{place.value + session * kPlaces};
}

}  // namespace starling
