// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/time.h"

namespace starling {

/// What can happen in the simulated world, in the order in which it happens at one instant:
/// scripted faults, departures, messages, arrivals, decisions.
enum class EventKind : std::uint8_t {
  script,
  gang_end,
  lapse,
  process,
  exit_notice,
  delivery,
  submission,
  tick
};

/// What happens is told by `kind`; `target` and `token` mean what their kind says.
struct SimEvent {
  Instant at;
  std::uint64_t order = 0;  ///< kind, then the number of the push: unique
  std::uint32_t target = 0;
  std::uint32_t token = 0;

  [[nodiscard]] EventKind kind() const noexcept { return static_cast<EventKind>(order >> 56U); }
};

/// Everything that is going to happen, earliest first. Equal instants go by kind, then in the order
/// of push(), so a run never depends on the heap's shape. Allocates only when it grows.
class EventQueue {
 public:
  void push(Instant at, EventKind kind, std::uint32_t target, std::uint32_t token = 0) {
    heap_.push_back({at, (static_cast<std::uint64_t>(kind) << 56U) | pushed_++, target, token});
    std::push_heap(heap_.begin(), heap_.end(), later_first);
  }
  /// The earliest. Requires !empty().
  SimEvent pop() {
    STARLING_CHECK(!heap_.empty());
    std::pop_heap(heap_.begin(), heap_.end(), later_first);
    const SimEvent event = heap_.back();
    heap_.pop_back();
    return event;
  }
  [[nodiscard]] const SimEvent& top() const { return heap_.front(); }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

 private:
  static bool later_first(const SimEvent& a, const SimEvent& b) noexcept {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }

  std::vector<SimEvent> heap_;
  std::uint64_t pushed_ = 0;
};

/// The one clock of the simulated world; it moves when the world takes the next event.
class SimClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return now_; }
  void set(Instant now) noexcept { now_ = now; }

 private:
  Instant now_{};
};

}  // namespace starling
