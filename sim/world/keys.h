// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace starling {

/// The keys that nodes prove themselves with, and what each node's copy of the flock's list says
/// of the others'. Until the first one is exchanged every node has one key, which all know.
/// An exchange is: made() puts a new key into the list, beside the old one; read() when a copy
/// arrives; used() when the node has it; dropped() takes the old one out of the list, which is read
/// again. A node that is late, or does this in another order, is not heard meanwhile.
class Keys {
 public:
  void made(NodeId node);
  void dropped(NodeId node);
  /// `reader` has the newest list, as far as it is about `of`.
  void read(NodeId reader, NodeId of) { copies_[{reader, of}] = lists_[of]; }
  void used(NodeId node) { uses_[node] = lists_[node].own; }
  /// All have the newest keys and lists, and no node has more than one key. They count anew.
  void settle() { *this = Keys{}; }

  [[nodiscard]] bool exchanged() const noexcept { return !lists_.empty(); }
  /// Whether frames pass between the two: each proves its key to the other, and the transport's own
  /// rule decides (bus/wire/seat_keys.h).
  [[nodiscard]] bool hear(NodeId a, NodeId b) const { return lets_in(a, b) && lets_in(b, a); }
  /// That what `of` uses is in the copy of `reader`, by numbers alone: what hear() rests on.
  [[nodiscard]] bool knows(NodeId reader, NodeId of) const;

 private:
  struct List {  // of one node's keys; 0 is the first of each
    std::uint32_t own = 0;
    bool with_old = false;  ///< the one before it counts, too
  };
  [[nodiscard]] bool lets_in(NodeId reader, NodeId of) const;
  [[nodiscard]] List copy(NodeId reader, NodeId of) const;
  [[nodiscard]] std::uint32_t in_use(NodeId node) const;

  std::map<NodeId, List> lists_;  // of nodes whose key was ever exchanged
  std::map<std::pair<NodeId, NodeId>, List> copies_;
  std::map<NodeId, std::uint32_t> uses_;
};

}  // namespace starling
