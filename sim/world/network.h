// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "bus/wire/codec.h"
#include "bus/wire/endpoint.h"
#include "sim/run/sim_options.h"
#include "sim/world/queue.h"

namespace starling {

/// A machine of the simulated world. Links are cut between places, not between nodes: two owners of
/// one partition have one NodeId, and each is somewhere.
struct Place {
  std::uint32_t value = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
/// Where a node is that has never moved.
[[nodiscard]] constexpr Place home_of(NodeId node) { return Place{node.value}; }

/// How often frames of each kind met each fate, by index into Message.
struct FrameFates {
  using ByKind = std::array<std::uint64_t, std::variant_size_v<MessageKinds>>;
  ByKind lost{}, repeated{}, overtaken{}, corrupted{};
};

/// Frames on their way between the nodes of the simulated world. A frame is lost, repeated, delayed
/// or overtaken as NetworkModel says, and altered by tamper() alone; without `reorder` two frames
/// of one link arrive in the order in which they were sent, as on a TCP connection. The ideal
/// network takes no time. Slots of frames in flight are reused.
class Network {
 public:
  struct InFlight {
    NodeId from;
    NodeId to;
    std::vector<std::byte> bytes;
    bool corrupt = false;       ///< the receiver has to refuse it
    std::vector<Place> barred;  ///< where it does not arrive: the way there was cut when it left
    [[nodiscard]] bool reaches(Place place) const noexcept {
      return std::find(barred.begin(), barred.end(), place) == barred.end();
    }
  };
  /// What becomes of a frame that is being sent.
  enum class Tampered : std::uint8_t {
    no,        ///< what the model says, as it was
    lost,      ///< it does not arrive
    repeated,  ///< it arrives, and again up to kLatest later
    late,      ///< up to kLatest, and later ones overtake it
    lie,       ///< altered by its sender: a good frame with untrue content
    corrupt,   ///< no node may take what it is now
    discarded  ///< altered on the way to something that a codec would take: the transport's
               ///< authentication drops it
  };
  static constexpr Duration kLatest = std::chrono::seconds(20);
  using Tamper = std::function<Tampered(NodeId from, NodeId to, std::vector<std::byte>& frame)>;

  Network(const NetworkModel& model, Rng rng, const Limits& limits, EventQueue& queue,
          const SimClock& clock);

  /// False: larger than a frame may be. A lost frame is a sent one.
  bool send(NodeId from, Place at, NodeId to, std::span<const std::byte> frame);
  bool send(NodeId from, NodeId to, std::span<const std::byte> frame) {
    return send(from, home_of(from), to, frame);
  }
  /// Takes the frame of a delivery event off the network.
  [[nodiscard]] InFlight arrive(std::uint32_t token);

  /// How frames fare that are sent from now on.
  void set_model(const NetworkModel& model) {
    model_ = model;
    ideal_ = model.is_ideal();
  }
  /// Frames from `from` to `to` are lost from now on, or no longer.
  void cut(Place from, Place to, bool is_cut);
  void cut(NodeId from, NodeId to, bool is_cut) { cut(home_of(from), home_of(to), is_cut); }
  /// Places of different regions hear nothing of each other. Every place begins in region 0, also
  /// those that come later.
  void move(Place place, std::uint32_t region);
  [[nodiscard]] std::uint32_t region_of(Place place) const;
  /// All places at which a node of that name is, those of owners that were deposed among them.
  /// Without: its home.
  using Places = std::function<void(NodeId, std::vector<Place>&)>;
  void set_places(Places places) { places_ = std::move(places); }
  /// Looks at every frame as it is sent; none: nothing does.
  void set_tamper(Tamper tamper) { tamper_ = std::move(tamper); }
  /// At most so many frames are on their way on one link; more are lost.
  void set_queue(std::size_t frames) { queue_frames_ = frames; }
  /// What is on its way to `node` arrives nowhere: its connections ended with its machine.
  void disconnect(NodeId node);

  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  [[nodiscard]] std::uint64_t repeated() const noexcept { return repeated_; }
  [[nodiscard]] std::uint64_t overtaken() const noexcept { return overtaken_; }
  [[nodiscard]] std::uint64_t corrupted() const noexcept { return corrupted_; }
  [[nodiscard]] std::uint64_t lies() const noexcept { return lies_; }
  [[nodiscard]] std::uint64_t overflowed() const noexcept { return overflowed_; }
  /// Filled where kinds are counted.
  [[nodiscard]] const FrameFates& fates() const noexcept { return fates_; }
  void count_kinds() { counts_kinds_ = true; }

 private:
  using Link = std::pair<NodeId, NodeId>;

  void carry(NodeId from, NodeId to, std::span<const std::byte> frame, Instant at, bool corrupt);
  /// Fills barred_; true: no place of `to` can be reached.
  [[nodiscard]] bool all_cut(Place from, NodeId to);
  void note(FrameFates::ByKind& fate, std::span<const std::byte> frame, bool corrupt = false);
  bool pass(NodeId from, Place at, NodeId to, std::span<const std::byte> frame, Tampered fate);
  [[nodiscard]] Duration late() { return from_seconds(seconds(kLatest) * rng_.uniform()); }
  [[nodiscard]] Duration way();

  NetworkModel model_;
  bool ideal_;
  Rng rng_;
  std::size_t frame_bytes_max_;
  EventQueue& queue_;
  const SimClock& clock_;
  std::vector<InFlight> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::map<Link, Instant> last_arrival_;  // so that later frames do not overtake
  std::set<std::pair<Place, Place>> cut_;
  std::map<Place, std::uint32_t> regions_;  // but region 0
  Places places_;
  std::vector<Place> there_, barred_;  // of the frame that is being sent
  Tamper tamper_;
  std::vector<std::byte> altered_;
  std::size_t queue_frames_ = SIZE_MAX;
  std::map<Link, std::size_t> queued_;  // only where queue_frames_ is set
  Codec spy_;
  bool counts_kinds_ = false;
  FrameFates fates_;
  std::uint64_t sent_ = 0, lost_ = 0, repeated_ = 0, overtaken_ = 0;
  std::uint64_t corrupted_ = 0, lies_ = 0, overflowed_ = 0;
};

/// One node's plug in the network. The world puts frames in as they arrive; receive() never waits.
class SimEndpoint final : public Endpoint {
 public:
  SimEndpoint(NodeId me, Network& network) : me_(me), place_(home_of(me)), network_(network) {}
  /// Another session lives here, under a name of its own.
  void rename(NodeId me) { me_ = me; }
  /// Where this node is from now on.
  void move(Place place) { place_ = place; }
  [[nodiscard]] Place place() const noexcept { return place_; }

  bool send(NodeId to, std::span<const std::byte> frame) override {
    ++sent_;
    if (!held_) return network_.send(me_, place_, to, frame);
    outbox_.push_back({to, {frame.begin(), frame.end()}});
    return true;
  }
  std::optional<Delivery> receive(Instant) override {
    if (next_ == inbox_.size()) {
      inbox_.clear();
      next_ = 0;
      return std::nullopt;
    }
    if (allowance_ == 0) return std::nullopt;
    if (allowance_ != kAll) --allowance_;
    return std::move(inbox_[next_++]);
  }
  /// What waits here is lost: the node's memory is gone.
  void clear() {
    inbox_.clear();
    next_ = 0;
    outbox_.clear();
    held_ = false;
  }
  /// False: `room` frames wait already, and this one is lost.
  bool put(NodeId from, std::vector<std::byte> frame) {
    if (waiting() >= room_) return false;
    inbox_.push_back({from, std::move(frame)});
    return true;
  }
  [[nodiscard]] std::size_t waiting() const noexcept { return inbox_.size() - next_; }

  /// What is sent from now on leaves at let_go(): the node is still busy with what comes before.
  void hold() { held_ = true; }
  void let_go() {
    held_ = false;
    for (const auto& [to, frame] : outbox_) network_.send(me_, place_, to, frame);
    outbox_.clear();
  }
  static constexpr std::size_t kAll = SIZE_MAX;
  /// How many frames may be taken out from now on.
  void allow(std::size_t frames) { allowance_ = frames; }
  void set_room(std::size_t frames) { room_ = frames; }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

 private:
  NodeId me_;
  Place place_;
  Network& network_;
  std::vector<Delivery> inbox_;
  std::size_t next_ = 0;
  std::vector<std::pair<NodeId, std::vector<std::byte>>> outbox_;
  bool held_ = false;
  std::size_t allowance_ = kAll, room_ = SIZE_MAX;
  std::uint64_t sent_ = 0;
};

}  // namespace starling
