// SPDX-License-Identifier: Apache-2.0
#include "sim/world/keys.h"

#include "bus/wire/seat_keys.h"

namespace starling {
namespace {

std::string key_text(NodeId node, std::uint32_t number) {
  return "key " + std::to_string(number) + " of node " + std::to_string(node.value);
}

}  // namespace

void Keys::made(NodeId node) {
  List& list = lists_[node];
  ++list.own;
  list.with_old = true;
}

void Keys::dropped(NodeId node) { lists_[node].with_old = false; }

Keys::List Keys::copy(NodeId reader, NodeId of) const {
  const auto at = copies_.find({reader, of});
  return at == copies_.end() ? List{} : at->second;
}

std::uint32_t Keys::in_use(NodeId node) const {
  const auto at = uses_.find(node);
  return at == uses_.end() ? 0 : at->second;
}

bool Keys::lets_in(NodeId reader, NodeId of) const {
  const List known = copy(reader, of);
  std::vector<std::string> also;
  if (known.with_old) also.push_back(key_text(of, known.own - 1));
  return is_key_of_seat(key_text(of, in_use(of)), key_text(of, known.own), also);
}

bool Keys::knows(NodeId reader, NodeId of) const {
  const List known = copy(reader, of);
  const std::uint32_t key = in_use(of);
  return key == known.own || (known.with_old && key + 1 == known.own);
}

}  // namespace starling
