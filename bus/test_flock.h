// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "bus/flock.h"
#include "bus/keys.h"
#include "bus/sessions.h"
#include "bus/wire/roles.h"
#include "bus/zmq_endpoint.h"

namespace starling::testing {

struct SteadyClock : Clock {
  [[nodiscard]] Instant now() const noexcept override {
    return Instant{std::chrono::steady_clock::now().time_since_epoch()};
  }
};

/// Any frame.
inline const std::vector<std::byte> kFrame{std::byte{42}, std::byte{7}};

/// A flock of real endpoints in one process, over sockets in a fresh folder.
class SocketFlock {
 public:
  explicit SocketFlock(bool with_keys) : with_keys_(with_keys) {}

  void add(NodeId node) {
    if (with_keys_) keys[node] = generate_keys().value();
    const Role role = role_of(node);
    const std::string at = "ipc://" + (folder.path / std::to_string(node.value)).string();
    flock[node] = {node, role, role == Role::client ? "" : at,
                   with_keys_ ? keys[node].public_key : ""};
  }
  [[nodiscard]] std::unique_ptr<ZmqEndpoint> open(NodeId node, const Limits& limits = {}) {
    ZmqOptions options{node, "", std::nullopt, limits};
    if (with_keys_) options.keys = keys.at(place_of(node));
    return ZmqEndpoint::open(options, flock, clock).value();
  }
  /// The next frame within `ms`.
  [[nodiscard]] std::optional<Delivery> await(Endpoint& e, int ms = 30) {
    return e.receive(clock.now() + std::chrono::milliseconds(ms));
  }

  /// Sends kFrame until it arrives, as the protocol does.
  [[nodiscard]] std::optional<Delivery> pass(Endpoint& from, Endpoint& to, NodeId to_id,
                                             int tries = 100) {
    for (int i = 0; i < tries; ++i) {
      from.send(to_id, kFrame);
      if (auto d = await(to)) return d;
    }
    return std::nullopt;
  }

  TestFolder folder{"bus"};
  SteadyClock clock;
  Flock flock;
  std::map<NodeId, KeyPair> keys;

 private:
  bool with_keys_;
};

}  // namespace starling::testing
