// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/as_live.h"

#include "launch/deployment/scaled_clock.h"

namespace starling {
namespace {

/// One way over loopback: encoding, CURVE, a journal that may be at work, waking the peer.
constexpr double kLoopbackDelay = 0.3e-3;  // seconds

}  // namespace

SimOptions as_live(SimOptions sim, bool own_network, double speedup) {
  sim.timers = stretched(sim.timers, speedup);
  sim.as_in_flock = true;
  if (own_network) return sim;
  sim.network.delay = from_seconds(kLoopbackDelay * speedup);
  sim.network.jitter = 0.5;
  return sim;
}

}  // namespace starling
