// SPDX-License-Identifier: Apache-2.0
#include "bus/allow_list.h"

#include <zmq.h>

#include <charconv>

#include "bus/wire/seat_keys.h"

namespace starling {
namespace {

bool same_host(const std::string& address) {
  for (const char* prefix : {"tcp://127.", "tcp://localhost:", "tcp://[::1]:"}) {
    if (address.starts_with(prefix)) return true;
  }
  // Abstract names (ipc://@) have no file mode, hence no owner.
  return address.starts_with("ipc://") && !address.starts_with("ipc://@");
}

/// What the allow-list knows a key as: "12#KEY".
std::string user_of(NodeSeat place, const std::string& key) { return text_of(place) + "#" + key; }

bool has_key(const Member& member, std::uint32_t number, std::string_view key) {
  const SeatAddress seat = member.seat(number);
  return is_key_of_seat(key, seat.public_key, seat.also);
}

}  // namespace

std::string text_of(NodeSeat place) {
  std::string text = std::to_string(place.node.value);
  if (place.seat > 0) text += "/" + std::to_string(place.seat);
  return text;
}

std::optional<NodeSeat> place_in(std::string_view text) {
  NodeSeat place;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, place.node.value);
  if (error != std::errc{}) return std::nullopt;
  if (after == end) return place;
  if (*after != '/') return std::nullopt;
  const auto [last, wrong] = std::from_chars(after + 1, end, place.seat);
  if (wrong != std::errc{} || last != end) return std::nullopt;
  return place;
}

std::map<std::string, std::string> allow_list(const Flock& flock) {
  std::map<std::string, std::string> allowed;
  const auto add = [&](const std::string& key, NodeSeat place) {
    std::string raw(32, '\0');
    zmq_z85_decode(reinterpret_cast<std::uint8_t*>(raw.data()), key.c_str());
    allowed.emplace(std::move(raw), user_of(place, key));
  };
  for (const auto& [node, member] : flock) {
    for (std::uint32_t i = 0; i < member.seats(); ++i) {
      const SeatAddress seat = member.seat(i);
      add(seat.public_key, {node, i});
      for (const std::string& key : seat.also) add(key, {node, i});
    }
  }
  return allowed;
}

Status check_place(NodeSeat me, const std::optional<KeyPair>& keys, const std::string& bind,
                   const Flock& flock) {
  if (Status s = check_flock(flock); !s.ok()) return s;
  const std::string who = "bus: node " + std::to_string(me.node.value);
  const auto mine = flock.find(me.node);
  if (mine == flock.end()) return {Errc::invalid, who + " is not in the flock"};
  if (me.seat >= mine->second.seats())
    return {Errc::invalid, who + " has no seat " + std::to_string(me.seat)};
  const std::string only =
      " needs keys; without them only tcp://127.0.0.1 and ipc:// are allowed "
      "('starling keys new FILE' makes a pair)";
  if (keys) {
    if (!has_key(mine->second, me.seat, keys->public_key)) {
      return {Errc::invalid, "bus: the key of node " + std::to_string(me.node.value) +
                                 " is not the one that the flock knows"};
    }
    for (const auto& [node, member] : flock) {
      if (member.public_key.empty()) {
        return {Errc::invalid,
                "bus: node " + std::to_string(node.value) + " has no key, but this node has"};
      }
    }
    return done();
  }
  for (const auto& [node, member] : flock) {
    for (std::uint32_t i = 0; i < member.seats(); ++i) {
      const std::string address = member.seat(i).address;
      if (address.empty() || same_host(address)) continue;
      return {Errc::invalid, "bus: " + address + " of node " + std::to_string(node.value) + only};
    }
  }
  if (!bind.empty() && !same_host(bind)) return {Errc::invalid, "bus: to listen at " + bind + only};
  return done();
}

std::optional<NodeSeat> place_of_user(std::string_view user, const Flock& flock) {
  const auto mark = user.find('#');
  if (mark == std::string_view::npos) return std::nullopt;
  const auto place = place_in(user.substr(0, mark));
  if (!place) return std::nullopt;
  const auto member = flock.find(place->node);
  if (member == flock.end() || place->seat >= member->second.seats()) return std::nullopt;
  if (!has_key(member->second, place->seat, user.substr(mark + 1))) return std::nullopt;
  return place;
}

}  // namespace starling
