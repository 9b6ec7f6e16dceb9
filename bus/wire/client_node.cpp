// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "bus/wire/node.h"

namespace starling {

ClientNode::ClientNode(Client client, Incarnation incarnation, const Limits& limits,
                       Endpoint& endpoint, NodeOptions options)
    : Node(client.config().me, incarnation, limits, endpoint, nullptr, options),
      client_(std::move(client)) {}

void ClientNode::receive(Instant now, Received received) {
  client_.step(now, Event{std::move(received)}, out_);
}

void ClientNode::tick_core(Instant now) { client_.step(now, Tick{}, out_); }

}  // namespace starling
