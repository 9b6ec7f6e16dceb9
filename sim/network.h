#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "bus/endpoint.h"
#include "sim/queue.h"
#include "sim/simulate.h"

namespace starling {

/// Frames on their way between the nodes of the simulated world. A frame is lost, repeated, delayed
/// or overtaken as NetworkModel says, never altered; without `reorder` two frames of one link
/// arrive in the order in which they were sent, as on a TCP connection. The ideal network takes no
/// time. Slots of frames in flight are reused.
class Network {
 public:
  struct InFlight {
    NodeId from;
    NodeId to;
    std::vector<std::byte> bytes;
  };

  Network(const NetworkModel& model, Rng rng, const Limits& limits, EventQueue& queue,
          const SimClock& clock);

  /// False: larger than a frame may be. A lost frame is a sent one.
  bool send(NodeId from, NodeId to, std::span<const std::byte> frame);
  /// Takes the frame of a delivery event off the network.
  [[nodiscard]] InFlight arrive(std::uint32_t token);

  /// How frames fare that are sent from now on.
  void set_model(const NetworkModel& model) {
    model_ = model;
    ideal_ = model.is_ideal();
  }
  /// Frames from `from` to `to` are lost from now on, or no longer.
  void cut(NodeId from, NodeId to, bool is_cut);

  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  [[nodiscard]] std::uint64_t repeated() const noexcept { return repeated_; }
  [[nodiscard]] std::uint64_t overtaken() const noexcept { return overtaken_; }

 private:
  using Link = std::pair<NodeId, NodeId>;

  void carry(NodeId from, NodeId to, std::span<const std::byte> frame, Instant at);
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
  std::map<Link, bool> cut_;
  std::uint64_t sent_ = 0, lost_ = 0, repeated_ = 0, overtaken_ = 0;
};

/// One node's plug in the network. The world puts frames in as they arrive; receive() never waits.
class SimEndpoint final : public Endpoint {
 public:
  SimEndpoint(NodeId me, Network& network) : me_(me), network_(network) {}

  bool send(NodeId to, std::span<const std::byte> frame) override {
    return network_.send(me_, to, frame);
  }
  std::optional<Delivery> receive(Instant) override {
    if (next_ == inbox_.size()) {
      inbox_.clear();
      next_ = 0;
      return std::nullopt;
    }
    return std::move(inbox_[next_++]);
  }
  /// What waits here is lost: the node's memory is gone.
  void clear() {
    inbox_.clear();
    next_ = 0;
  }
  void put(NodeId from, std::vector<std::byte> frame) {
    inbox_.push_back({from, std::move(frame)});
  }

 private:
  NodeId me_;
  Network& network_;
  std::vector<Delivery> inbox_;
  std::size_t next_ = 0;
};

}  // namespace starling
