// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agents/asker.h"
#include "base/ids.h"
#include "base/time.h"

namespace starling {

struct Delivery {
  NodeId from;  ///< authenticated by the transport, never read from the frame
  std::vector<std::byte> frame;
  std::uint32_t seat = 0;  ///< which of the sender's places it came from (bus/flock.h)
  Asker by = {};           ///< who has the key of a client, as the flock knows them
};

/// Datagrams between named nodes: a frame is lost, repeated, delayed or reordered, never altered.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  /// Never blocks; false: dropped (unknown peer, full queue).
  virtual bool send(NodeId to, std::span<const std::byte> frame) = 0;
  /// The newest life of `node` is the one that speaks from `seat`: frames go there from now on.
  virtual void found_at(NodeId /*node*/, std::uint32_t /*seat*/) {}
  /// The next frame, waiting until `deadline` at the latest.
  virtual std::optional<Delivery> receive(Instant deadline) = 0;
};

}  // namespace starling
