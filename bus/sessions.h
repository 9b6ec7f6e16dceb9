// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bus/flock.h"
#include "bus/wire/places.h"

namespace starling {

/// The member that `node` takes part as; end() for none.
[[nodiscard]] inline Flock::const_iterator member_for(const Flock& flock, NodeId node) {
  if (session_of(node) >= kSessions) return flock.end();
  return flock.find(place_of(node));
}

}  // namespace starling
