#include "sim/network.h"

#include <algorithm>

namespace starling {

NetworkModel NetworkModel::lan() {
  NetworkModel model;
  model.delay = std::chrono::microseconds(100);
  model.jitter = 0.5;
  return model;
}

Network::Network(const NetworkModel& model, Rng rng, const Limits& limits, EventQueue& queue,
                 const SimClock& clock)
    : model_(model),
      ideal_(model.is_ideal()),
      rng_(rng),
      frame_bytes_max_(limits.frame_bytes),
      queue_(queue),
      clock_(clock) {}

bool Network::send(NodeId from, NodeId to, std::span<const std::byte> frame) {
  if (frame.size() > frame_bytes_max_) return false;
  ++sent_;
  if (!cut_.empty() && cut_.contains({from, to})) {
    ++lost_;
    return true;
  }
  if (ideal_) {
    carry(from, to, frame, clock_.now());
    return true;
  }
  // Every frame draws the same number of random numbers, so that one more fault does not shift all
  // others.
  const bool is_lost = rng_.chance(model_.loss);
  const bool is_repeated = rng_.chance(model_.duplication);
  const bool overtakes = rng_.chance(model_.reorder);
  const Duration first = way();
  const Duration second = way();
  if (is_lost) {
    ++lost_;
    return true;
  }
  Instant at = clock_.now() + first;
  if (overtakes) {
    ++overtaken_;
    at += 10 * second;
  } else {
    Instant& last = last_arrival_[{from, to}];
    at = last = std::max(at, last);
  }
  carry(from, to, frame, at);
  if (is_repeated) {
    ++repeated_;
    carry(from, to, frame, at + 100 * second);
  }
  return true;
}

Network::InFlight Network::arrive(std::uint32_t token) {
  free_slots_.push_back(token);
  return std::move(slots_[token]);
}

void Network::cut(NodeId from, NodeId to, bool is_cut) {
  if (is_cut) {
    cut_[{from, to}] = true;
  } else {
    cut_.erase({from, to});
  }
}

void Network::carry(NodeId from, NodeId to, std::span<const std::byte> frame, Instant at) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = {from, to, {frame.begin(), frame.end()}};
  queue_.push(at, EventKind::delivery, to.value, slot);
}

Duration Network::way() {
  const double factor = 1 + model_.jitter * (2 * rng_.uniform() - 1);
  return Duration(static_cast<std::int64_t>(static_cast<double>(model_.delay.count()) * factor));
}

}  // namespace starling
