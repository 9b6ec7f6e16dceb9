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
    const SimEvent event{at, (static_cast<std::uint64_t>(kind) << 56U) | pushed_++, target, token};
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    SimEvent* const heap = heap_.data();
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (!earlier(event, heap[parent])) break;
      heap[hole] = heap[parent];
      hole = parent;
    }
    heap[hole] = event;
  }
  /// The earliest. Requires !empty().
  SimEvent pop() {
    STARLING_CHECK(!heap_.empty());
    const SimEvent first = heap_.front();
    const SimEvent last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }
  [[nodiscard]] const SimEvent& top() const { return heap_.front(); }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

 private:
  // Four children: half the levels of a binary heap, and siblings share two cache lines.
  static constexpr std::size_t kChildren = 4;

  [[gnu::always_inline]] static bool earlier(const SimEvent& a, const SimEvent& b) noexcept {
    return a.at != b.at ? a.at < b.at : a.order < b.order;
  }
  /// Puts `event` where the first one was, and further down as long as something is earlier.
  void sink(const SimEvent& event) noexcept {
    SimEvent* const heap = heap_.data();
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    for (;;) {
      const std::size_t begin = kChildren * hole + 1;
      if (begin >= size) break;
      const std::size_t end = std::min(begin + kChildren, size);
      std::size_t first = begin;
      for (std::size_t child = begin + 1; child < end; ++child) {
        if (earlier(heap[child], heap[first])) first = child;
      }
      if (!earlier(heap[first], event)) break;
      heap[hole] = heap[first];
      hole = first;
    }
    heap[hole] = event;
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
