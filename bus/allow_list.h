// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "bus/flock.h"
#include "bus/keys.h"

namespace starling {

/// A node at one of its seats.
struct NodeSeat {
  NodeId node;
  std::uint32_t seat = 0;
  friend auto operator<=>(const NodeSeat&, const NodeSeat&) = default;
};
/// "12" is node 12 at its own seat, "12/1" at its first standby seat.
[[nodiscard]] std::string text_of(NodeSeat place);
[[nodiscard]] std::optional<NodeSeat> place_in(std::string_view text);

/// Raw public keys of all members (32 bytes), and the user that each is let in as: "12#KEY".
[[nodiscard]] std::map<std::string, std::string> allow_list(const Flock& flock);
/// The place of such a user, if the flock still knows that key as its own.
[[nodiscard]] std::optional<NodeSeat> place_of_user(std::string_view user, const Flock& flock);

/// What makes `flock` unfit for an endpoint at `me` with `keys`, which is to listen at `bind`
/// (empty: at its own address); `invalid` says what to do.
[[nodiscard]] Status check_place(NodeSeat me, const std::optional<KeyPair>& keys,
                                 const std::string& bind, const Flock& flock);

}  // namespace starling
