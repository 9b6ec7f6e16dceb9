// SPDX-License-Identifier: Apache-2.0
#include "sim/world/network.h"

#include <algorithm>

#include "bus/wire/frame_kind.h"

namespace starling {

Network::Network(const NetworkModel& model, Rng rng, const Limits& limits, EventQueue& queue,
                 const SimClock& clock)
    : model_(model),
      ideal_(model.is_ideal()),
      rng_(rng),
      frame_bytes_max_(limits.frame_bytes),
      queue_(queue),
      clock_(clock),
      spy_(limits) {}

void Network::note(FrameFates::ByKind& fate, std::span<const std::byte> frame, bool corrupt) {
  if (!counts_kinds_ || (corrupt && !spy_.decode(frame))) return;
  if (const auto kind = kind_of_frame(frame)) ++fate[*kind];
}

bool Network::send(NodeId from, Place at, NodeId to, std::span<const std::byte> frame) {
  if (frame.size() > frame_bytes_max_) return false;
  ++sent_;
  if (!tamper_) return pass(from, at, to, frame, Tampered::no);
  altered_.assign(frame.begin(), frame.end());
  const Tampered tampered = tamper_(from, to, altered_);
  if (tampered == Tampered::lie) ++lies_;
  if (tampered == Tampered::corrupt || tampered == Tampered::discarded) {
    ++corrupted_;
    note(fates_.corrupted, frame);
  }
  return tampered == Tampered::discarded || pass(from, at, to, altered_, tampered);
}

/// True: it is on its way, or lost like one that is.
bool Network::pass(NodeId from, Place place, NodeId to, std::span<const std::byte> frame,
                   Tampered fate) {
  const bool corrupt = fate == Tampered::corrupt;
  const bool altered = corrupt || fate == Tampered::lie;  // what a codec says of it is not known
  if (fate == Tampered::lost || all_cut(place, to)) {
    ++lost_;
    note(fates_.lost, frame, altered);
    return true;
  }
  if (queue_frames_ != SIZE_MAX && queued_[{from, to}] >= queue_frames_) {
    ++overflowed_;
    return true;
  }
  if (ideal_) {
    carry(from, to, frame, clock_.now(), corrupt);
    return true;
  }
  // Every frame draws the same number of random numbers, so that one more fault does not shift all
  // others.
  const bool is_lost = rng_.chance(model_.loss);
  const bool is_repeated = rng_.chance(model_.duplication) || fate == Tampered::repeated;
  const bool overtakes = rng_.chance(model_.reorder) || fate == Tampered::late;
  const Duration first = way();
  const Duration second = way();
  if (is_lost) {
    ++lost_;
    note(fates_.lost, frame, altered);
    return true;
  }
  Instant at = clock_.now() + first;
  if (overtakes) {
    ++overtaken_;
    note(fates_.overtaken, frame, altered);
    at += fate == Tampered::late ? late() : std::min(10 * second, kLatest);
  } else {
    Instant& last = last_arrival_[{from, to}];
    at = last = std::max(at, last);
  }
  carry(from, to, frame, at, corrupt);
  if (is_repeated) {
    ++repeated_;
    note(fates_.repeated, frame, altered);
    carry(from, to, frame,
          at + (fate == Tampered::repeated ? late() : std::min(100 * second, kLatest)), corrupt);
  }
  return true;
}

Network::InFlight Network::arrive(std::uint32_t token) {
  free_slots_.push_back(token);
  if (queue_frames_ != SIZE_MAX) {
    std::size_t& queued = queued_[{slots_[token].from, slots_[token].to}];
    if (queued > 0) --queued;
  }
  return std::move(slots_[token]);
}

void Network::disconnect(NodeId node) {
  for (InFlight& frame : slots_) {
    if (frame.to == node && !frame.bytes.empty()) frame.to = NodeId{}, ++lost_;
  }
}

bool Network::all_cut(Place from, NodeId to) {
  barred_.clear();
  if (cut_.empty() && regions_.empty()) return false;
  there_.clear();
  places_ ? places_(to, there_) : there_.push_back(home_of(to));
  for (const Place place : there_) {
    if (cut_.contains({from, place}) || region_of(from) != region_of(place))
      barred_.push_back(place);
  }
  return !there_.empty() && barred_.size() == there_.size();
}

void Network::cut(Place from, Place to, bool is_cut) {
  is_cut ? (void)cut_.insert({from, to}) : (void)cut_.erase({from, to});
}

void Network::move(Place place, std::uint32_t region) {
  region == 0 ? (void)regions_.erase(place) : (void)(regions_[place] = region);
}

std::uint32_t Network::region_of(Place place) const {
  const auto at = regions_.find(place);
  return at == regions_.end() ? 0 : at->second;
}

void Network::carry(NodeId from, NodeId to, std::span<const std::byte> frame, Instant at,
                    bool corrupt) {
  if (queue_frames_ != SIZE_MAX) ++queued_[{from, to}];
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  InFlight& flies = slots_[slot];
  flies.from = from;
  flies.to = to;
  flies.bytes.assign(frame.begin(), frame.end());
  flies.corrupt = corrupt;
  flies.barred = barred_;
  queue_.push(at, EventKind::delivery, to.value, slot);
}

Duration Network::way() {
  const double factor = 1 + model_.jitter * (2 * rng_.uniform() - 1);
  return Duration(static_cast<std::int64_t>(static_cast<double>(model_.delay.count()) * factor));
}

}  // namespace starling
