// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "bus/wire/endpoint.h"

namespace starling::testing {

/// Two connected endpoints of any kind, and how to let time pass for them.
struct EndpointPair {
  Endpoint& a;
  NodeId id_a;
  Endpoint& b;
  NodeId id_b;
  std::size_t frame_bytes;  ///< the largest frame that both take
  /// The next frame at this endpoint, after as much time as a frame may take; nothing if none
  /// comes.
  std::function<std::optional<Delivery>(Endpoint&)> await;
};

/// Sends until it arrives, since an endpoint may lose frames; nothing after 100 tries.
inline std::optional<Delivery> pass(const EndpointPair& pair, Endpoint& from, Endpoint& to,
                                    NodeId to_id, const std::vector<std::byte>& frame) {
  for (int i = 0; i < 100; ++i) {
    std::vector<std::byte> scratch = frame;
    from.send(to_id, scratch);
    scratch.assign(scratch.size(), std::byte{0xee});  // the caller's buffer is its own again
    if (auto d = pair.await(to)) return d;
  }
  return std::nullopt;
}

/// What every Endpoint promises, whether over sockets or in memory.
inline void endpoint_battery(const EndpointPair& pair) {
  const auto empty = [&](Endpoint& e) {
    while (pair.await(e)) {
    }
  };
  const std::vector<std::byte> frame{std::byte{1}, std::byte{0}, std::byte{2}};

  const auto there = pass(pair, pair.a, pair.b, pair.id_b, frame);
  REQUIRE(there);
  CHECK(there->from == pair.id_a);
  CHECK(there->frame == frame);
  const auto back = pass(pair, pair.b, pair.a, pair.id_a, frame);
  REQUIRE(back);
  CHECK(back->from == pair.id_b);
  CHECK(back->frame == frame);
  empty(pair.a);
  empty(pair.b);

  // Nothing is there, and asking with a deadline in the past does not wait.
  CHECK_FALSE(pair.a.receive(Instant{}));

  CHECK_FALSE(pair.a.send(NodeId{0x00ab'cdef}, frame));  // no node's number

  std::vector<std::byte> large(pair.frame_bytes);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::byte>(i * 31);
  const auto got = pass(pair, pair.a, pair.b, pair.id_b, large);
  REQUIRE(got);
  CHECK(got->frame == large);
  large.push_back({});
  CHECK_FALSE(pair.a.send(pair.id_b, large));
  CHECK(pass(pair, pair.a, pair.b, pair.id_b, frame));  // and the next one passes

  // Many at once: what arrives is what was sent.
  empty(pair.b);
  std::size_t arrived = 0;
  for (std::size_t i = 0; i < 200; ++i)
    pair.a.send(pair.id_b, std::vector<std::byte>(9, std::byte(i)));
  while (const auto d = pair.await(pair.b)) {
    REQUIRE(d->frame.size() == 9);
    CHECK(d->frame[0] == d->frame[8]);
    ++arrived;
  }
  CHECK(arrived > 0);
}

}  // namespace starling::testing
