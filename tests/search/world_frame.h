// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.h"
#include "tests/search/world.h"

namespace starling::search {

/// Nodes of a world by number: two agents, two executors, and behind them the deposed owner.
inline constexpr std::uint32_t kDeposed = 4;
inline std::uint32_t slot_of(NodeId node) {
  return node.value >= kFirstExecutor ? 2 + node.value - kFirstExecutor : node.value - 1;
}

/// A frame under way: what the codec made of a message and what it read back from that.
struct SmallWorld::Frame {
  NodeId from, to;
  Incarnation incarnation;
  Message message;
  std::uint64_t hash = 0;
};

}  // namespace starling::search
