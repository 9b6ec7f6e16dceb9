// SPDX-License-Identifier: Apache-2.0
// Those that have no address: clients, many of one place, and such as do not read.
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "bus/sessions.h"
#include "bus/test_flock.h"

namespace starling {
namespace {

using testing::kFrame;
using testing::SocketFlock;
using Bytes = std::vector<std::byte>;

const NodeId kA = agent_node(AgentId{0});
const NodeId kCaller = client_node(0);

TEST_CASE("a caller needs no address: answers come back over its own connection") {
  for (const bool with_keys : {false, true}) {
    SocketFlock world(with_keys);
    world.add(kA), world.add(kCaller);
    const auto agent = world.open(kA), client = world.open(kCaller);
    CHECK(client->address().empty());
    CHECK_FALSE(agent->send(kCaller, kFrame));  // has not called yet
    const auto asked = world.pass(*client, *agent, kA);
    REQUIRE(asked);
    CHECK(asked->from == kCaller);
    REQUIRE(agent->send(kCaller, kFrame));
    const auto answered = world.await(*client, 2000);
    REQUIRE(answered);
    CHECK(answered->from == kA);
  }
}

TEST_CASE("one place's key has room for many sessions, each of which gets its own answers") {
  for (const bool with_keys : {false, true}) {
    SocketFlock world(with_keys);
    world.add(kA), world.add(kCaller);
    const auto agent = world.open(kA);
    std::vector<std::unique_ptr<ZmqEndpoint>> callers;
    for (std::uint32_t i = 0; i < 20; ++i) callers.push_back(world.open(session_node(kCaller, i)));
    for (std::uint32_t i = 0; i < 20; ++i) {
      const auto asked = world.pass(*callers[i], *agent, kA);
      REQUIRE(asked);
      CHECK(asked->from == session_node(kCaller, i));
    }
    while (world.await(*agent)) {
    }
    for (std::uint32_t i = 0; i < 20; ++i)
      REQUIRE(agent->send(session_node(kCaller, i), Bytes(i + 1)));
    for (std::uint32_t i = 0; i < 20; ++i) {
      const auto answered = world.await(*callers[i], 2000);
      REQUIRE(answered);
      CHECK(answered->frame.size() == i + 1);
      CHECK_FALSE(world.await(*callers[i], 1));
    }
    CHECK_FALSE(agent->send(session_node(kCaller, 21), kFrame));
    CHECK_FALSE(agent->send(session_node(kCaller, kSessions), kFrame));
  }
}

TEST_CASE("a session is one of its own key's place, whatever it calls itself") {
  SocketFlock world(true);
  const NodeId other = client_node(1);
  world.add(kA), world.add(kCaller), world.add(other);
  const auto agent = world.open(kA);
  const auto sends_as = [&](NodeId who, const std::string& name) -> std::optional<NodeId> {
    zmq::context_t context;
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::curve_serverkey, world.keys.at(kA).public_key);
    socket.set(zmq::sockopt::curve_publickey, world.keys.at(who).public_key);
    socket.set(zmq::sockopt::curve_secretkey, world.keys.at(who).secret_key);
    socket.set(zmq::sockopt::routing_id, name);
    socket.connect(world.flock.at(kA).address);
    socket.send(zmq::buffer(kFrame.data(), kFrame.size()), zmq::send_flags::none);
    const auto heard = world.await(*agent, 2000);
    return heard ? std::optional(heard->from) : std::nullopt;
  };
  CHECK(sends_as(other, "session/7/x") == session_node(other, 7));
  CHECK(sends_as(other, std::to_string(kCaller.value)) == other);
  CHECK(sends_as(other, "1") == other);
  CHECK(sends_as(other, "session/4096/x") == other);
  CHECK(sends_as(other, "session/99999999999/x") == other);
  CHECK(sends_as(other, "session/7") == other);
  CHECK(sends_as(other, "session/-1/x") == other);
}

TEST_CASE(
    "a caller that does not read has bounded bytes waiting, is not heard, and costs others "
    "nothing") {
  SocketFlock world(true);
  world.add(kA), world.add(kCaller);
  const auto agent = world.open(kA);
  Limits narrow;
  narrow.outbox_frames = 8;  // which its own queue takes in
  const auto deaf = world.open(session_node(kCaller, 1), narrow), other = world.open(kCaller);
  REQUIRE(world.pass(*deaf, *agent, kA));
  REQUIRE(world.pass(*other, *agent, kA));
  while (world.await(*agent)) {
  }
  // More than the sockets' buffers hold besides what is counted.
  const Bytes large(256'000);
  std::size_t taken = 0;
  for (int i = 0; i < 400; ++i) taken += agent->send(session_node(kCaller, 1), large) ? 1 : 0;
  for (int i = 0; i < 50 && taken < 400; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    taken += agent->send(session_node(kCaller, 1), large) ? 1 : 0;
  }
  CHECK(taken < 100);
  while (agent->send(session_node(kCaller, 1), Bytes(100))) {
  }
  CHECK_FALSE(world.pass(*deaf, *agent, kA, 10));
  CHECK(agent->counters().unheard > 0);
  REQUIRE(world.pass(*other, *agent, kA));
  REQUIRE(agent->send(kCaller, kFrame));
  CHECK(world.await(*other, 2000));
  // It reads again, and is heard again.
  while (world.await(*deaf, 200)) {
  }
  CHECK(world.pass(*deaf, *agent, kA));
}

}  // namespace
}  // namespace starling
