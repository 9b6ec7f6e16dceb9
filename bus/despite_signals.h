// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <zmq.hpp>

namespace starling {

/// Calls `act` again as often as a signal interrupts it, and returns what it returns. Calls of
/// libzmq that wait throw EINTR then, also in a process without a handler: one that was stopped and
/// goes on is interrupted, too. Other errors pass through.
template <class Act>
auto despite_signals(const Act& act) {
  for (;;) {
    try {
      return act();
    } catch (const zmq::error_t& e) {
      if (e.num() != EINTR) throw;
    }
  }
}

}  // namespace starling
