// SPDX-License-Identifier: Apache-2.0
// Who is no member of the flock, and members that do not speak as members do.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <zmq.hpp>

#include "base/rng.h"
#include "bus/test_flock.h"
#include "bus/zmq_endpoint.h"

namespace starling {
namespace {

using testing::kFrame;
using testing::SocketFlock;

const NodeId kA = agent_node(AgentId{0});
const NodeId kB = agent_node(AgentId{1});

/// A foreign client of agent A; sends for a while, and A must hear nothing of it.
struct Foreigner {
  explicit Foreigner(SocketFlock& w) : world(w), socket(context, zmq::socket_type::dealer) {
    socket.set(zmq::sockopt::linger, 0);
  }
  void encrypt(const KeyPair& as, const std::string& server) {
    socket.set(zmq::sockopt::curve_serverkey, server);
    socket.set(zmq::sockopt::curve_publickey, as.public_key);
    socket.set(zmq::sockopt::curve_secretkey, as.secret_key);
  }
  bool heard(ZmqEndpoint& by) {
    socket.connect(by.address());
    for (int i = 0; i < 10; ++i) {
      (void)socket.send(zmq::buffer(kFrame.data(), kFrame.size()), zmq::send_flags::dontwait);
      if (world.await(by)) return true;
    }
    return false;
  }
  SocketFlock& world;
  zmq::context_t context{1};
  zmq::socket_t socket;
};

TEST_CASE("strangers and plain clients are not heard, members are") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  const auto a = world.open(kA), b = world.open(kB);
  CHECK(a->counters().keys_refused == 0);

  Foreigner stranger(world);
  stranger.encrypt(generate_keys().value(), world.keys[kA].public_key);
  CHECK_FALSE(stranger.heard(*a));
  CHECK(a->counters().keys_refused > 0);

  Foreigner plain(world);
  CHECK_FALSE(plain.heard(*a));

  // A member that claims to be another by its routing id is still itself.
  Foreigner member(world);
  member.encrypt(world.keys[kB], world.keys[kA].public_key);
  member.socket.set(zmq::sockopt::routing_id, std::to_string(kA.value));
  member.socket.connect(a->address());
  std::optional<Delivery> got;
  for (int i = 0; i < 50 && !got; ++i) {
    (void)member.socket.send(zmq::buffer(kFrame.data(), kFrame.size()), zmq::send_flags::dontwait);
    got = world.await(*a);
  }
  REQUIRE(got);
  CHECK(got->from == kB);
}

TEST_CASE("an impostor with the server's address but not its key learns nothing") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  SocketFlock other(true);
  other.add(kA), other.add(kB);
  const auto b = world.open(kB);
  const auto impostor = other.open(kA);
  b->moved(kA, impostor->address());
  CHECK_FALSE(world.pass(*b, *impostor, kA, 10));
}

TEST_CASE("oversized and many-part messages of a member are dropped, the rest goes on") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  Limits limits;
  limits.frame_bytes = 10'000;
  const auto a = world.open(kA, limits), b = world.open(kB, limits);
  Foreigner wild(world);
  wild.encrypt(world.keys[kB], world.keys[kA].public_key);
  wild.socket.set(zmq::sockopt::immediate, true);
  wild.socket.set(zmq::sockopt::sndtimeo, 3000);
  wild.socket.connect(a->address());
  const std::string large(20'000, 'x');
  CHECK(wild.socket.send(zmq::buffer(large), zmq::send_flags::none));
  CHECK_FALSE(world.await(*a, 200));

  Foreigner parts(world);
  parts.encrypt(world.keys[kB], world.keys[kA].public_key);
  parts.socket.set(zmq::sockopt::sndtimeo, 3000);
  parts.socket.connect(a->address());
  const std::string small = "part";
  for (int i = 0; i < 3; ++i) {
    (void)parts.socket.send(zmq::buffer(small),
                            i < 2 ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
  CHECK_FALSE(world.await(*a, 200));
  CHECK(a->counters().nameless == 1);
  CHECK(world.pass(*b, *a, kA));
}

TEST_CASE("garbage on the port changes nothing") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  world.flock[kA].address = "tcp://127.0.0.1:*";
  const auto a = world.open(kA), b = world.open(kB);
  b->moved(kA, a->address());
  const auto port = std::stoi(a->address().substr(a->address().rfind(':') + 1));

  Rng rng(6);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < 300; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    std::string noise(1 + rng.below(400), '\0');
    for (char& c : noise) c = static_cast<char>(rng.below(256));
    // Half of them begin like a greeting of ZMTP 3.1 with CURVE, to get further in.
    const std::string greeting(
        "\xff\0\0\0\0\0\0\0\x01\x7f\x03\x01"
        "CURVE",
        17);
    if (i % 2 == 0) noise = greeting + std::string(15 + 32, '\0') + noise;
    (void)::send(fd, noise.data(), noise.size(), MSG_NOSIGNAL);
    ::close(fd);
  }
  CHECK_FALSE(world.await(*a, 100));
  CHECK(world.pass(*b, *a, kA));
}

}  // namespace
}  // namespace starling
