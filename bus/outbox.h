// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <zmq.hpp>

namespace starling {

/// How much may wait for those that do not read. What libzmq's queues count is frames, and a frame
/// has up to Limits::frame_bytes; here it is bytes.
struct OutboxBounds {
  std::size_t one = 0;  ///< for one peer: then its frames are dropped
  std::size_t all = 0;  ///< for all of them; one with nothing waiting gets a frame up to its double
};
inline constexpr OutboxBounds kCallersOutbox{4U << 20U, 32U << 20U};
inline constexpr OutboxBounds kMembersOutbox{64U << 20U, 256U << 20U};
/// What libzmq keeps about each frame that waits, at most.
inline constexpr std::size_t kBytesPerFrame = 192;
/// A frame that is no larger always has room with a peer for which nothing waits, so one that reads
/// gets answers of every kind but long lists, whatever others leave unread.
inline constexpr std::size_t kSmallFrame = 8192;

/// The bytes that wait for one peer, from the moment of sending until libzmq has encrypted or
/// dropped them. Made and used by one thread; libzmq's may outlive it.
class Outbox {
 public:
  using Count = std::shared_ptr<std::atomic<std::size_t>>;

  Outbox(OutboxBounds bounds, Count all)
      : bounds_(bounds),
        mine_(std::make_shared<std::atomic<std::size_t>>(0)),
        all_(std::move(all)) {}

  /// Whether a frame of `bytes` may be sent now.
  [[nodiscard]] bool has_room(std::size_t bytes) const noexcept;
  /// So much waits that it is better to ask nothing more that would be answered.
  [[nodiscard]] bool backed_up() const noexcept { return mine_->load() >= bounds_.one / 2; }
  /// A copy of `frame`, counted for as long as libzmq has it.
  [[nodiscard]] zmq::message_t message(std::span<const std::byte> frame) const;
  [[nodiscard]] std::size_t bytes() const noexcept { return mine_->load(); }

 private:
  OutboxBounds bounds_;
  Count mine_, all_;
};

}  // namespace starling
