// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agents/config.h"
#include "base/time.h"
#include "bus/wire/endpoint.h"

namespace starling {

/// Trace time: `speedup` times as fast as the machine's clock, from 0 when it is made. In a
/// compressed live run cores, policies and emulated jobs all live by it, so that every period a
/// policy reasons about (patience, rounds, backoff) has the length that it has in the simulator.
/// With speedup 1 it is the machine's clock, shifted.
class ScaledClock final : public Clock {
 public:
  explicit ScaledClock(double speedup);
  [[nodiscard]] Instant now() const noexcept override;
  /// When the machine's clock will say that it is `at` here; kNever stays kNever.
  [[nodiscard]] Instant on_machine(Instant at) const noexcept;
  /// A span of the machine's time as it looks here.
  [[nodiscard]] Duration stretched(Duration d) const noexcept;
  [[nodiscard]] double speedup() const noexcept { return speedup_; }

 private:
  double speedup_;
  Instant origin_;  // on the machine's clock
};

/// An endpoint whose deadlines are read against a ScaledClock. Both outlive it.
class ScaledEndpoint final : public Endpoint {
 public:
  ScaledEndpoint(Endpoint& endpoint, const ScaledClock& clock)
      : endpoint_(endpoint), clock_(clock) {}
  bool send(NodeId to, std::span<const std::byte> frame) override {
    return endpoint_.send(to, frame);
  }
  void found_at(NodeId node, std::uint32_t seat) override { endpoint_.found_at(node, seat); }
  std::optional<Delivery> receive(Instant deadline) override {
    return endpoint_.receive(clock_.on_machine(deadline));
  }

 private:
  Endpoint& endpoint_;
  const ScaledClock& clock_;
};

/// The timers of a flock that lives by such a clock: what waits for messages and processes keeps
/// its length on the machine, except that digests are never older than policies believe and holds
/// never longer than the wire allows.
[[nodiscard]] Timers stretched(Timers timers, double speedup);

/// Above it, holds and periods no longer fit their fields; below the least, timers are too short.
constexpr double kLeastSpeedup = 1e-6, kMostSpeedup = 200'000;

}  // namespace starling
