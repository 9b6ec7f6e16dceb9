// SPDX-License-Identifier: Apache-2.0
#include "bus/zmq_endpoint.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "bus/endpoint_battery.h"
#include "bus/test_flock.h"

namespace starling {
namespace {

using testing::kFrame;
using testing::SocketFlock;
using Bytes = std::vector<std::byte>;

const NodeId kA = agent_node(AgentId{0});
const NodeId kB = agent_node(AgentId{1});
const NodeId kCaller = client_node(0);

void battery(bool with_keys) {
  SocketFlock world(with_keys);
  world.add(kA), world.add(kB);
  Limits limits;
  limits.frame_bytes = 50'000;
  const auto a = world.open(kA, limits), b = world.open(kB, limits);
  testing::endpoint_battery(
      {*a, kA, *b, kB, limits.frame_bytes, [&](Endpoint& e) { return world.await(e); }});
}

TEST_CASE("the conformance battery, without keys") { battery(false); }
TEST_CASE("the conformance battery, encrypted") { battery(true); }

TEST_CASE("a frame's sender is the node that the flock knows its key as, from the next flock on") {
  SocketFlock world(true);
  world.add(kA), world.add(kCaller), world.add(client_node(1));
  world.flock[kCaller].holder = {"ann", false};
  const auto a = world.open(kA);
  const auto ann = world.open(kCaller), nobody = world.open(client_node(1));
  const auto hers = world.pass(*ann, *a, kA);
  REQUIRE(hers);
  CHECK(hers->by == Asker{"ann", false});
  const auto second = world.open(session_node(kCaller, 3));  // another process with her key
  const auto again = world.pass(*second, *a, kA);
  REQUIRE(again);
  CHECK(again->from == session_node(kCaller, 3));
  CHECK(again->by == Asker{"ann", false});
  const auto theirs = world.pass(*nobody, *a, kA);
  REQUIRE(theirs);
  CHECK(theirs->by == Asker{});
  Flock promoted = world.flock;
  promoted[kCaller].holder.is_operator = true;
  REQUIRE(a->renew(promoted, world.keys.at(kA)).ok());
  while (world.await(*a)) {
  }
  const auto now = world.pass(*ann, *a, kA);
  REQUIRE(now);
  CHECK(now->by == Asker{"ann", true});
}

TEST_CASE("over TCP, at a port that the system chose") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  world.flock[kA].address = "tcp://127.0.0.1:*";
  const auto a = world.open(kA), b = world.open(kB);
  CHECK(a->address().starts_with("tcp://127.0.0.1:"));
  b->moved(kA, a->address());
  CHECK(world.pass(*b, *a, kA));
}

int port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

/// The option of every TCP connection of this process whose one end is `port`.
std::vector<int> of_connections(int port, int level, int option) {
  std::vector<int> values;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_storage here{}, there{};
    socklen_t n = sizeof here, m = sizeof there;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &n) != 0) continue;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&there), &m) != 0) continue;
    if (port_of(here) != port && port_of(there) != port) continue;
    int value = 0;
    socklen_t size = sizeof value;
    REQUIRE(::getsockopt(fd, level, option, &value, &size) == 0);
    values.push_back(value);
  }
  return values;
}

TEST_CASE("the kernel gives up a host that vanished after 6 s, at both ends of a connection") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  world.flock[kA].address = "tcp://127.0.0.1:*";
  const auto a = world.open(kA), b = world.open(kB);
  b->moved(kA, a->address());
  REQUIRE(world.pass(*b, *a, kA));
  const int port = std::stoi(a->address().substr(a->address().rfind(':') + 1));
  CHECK(of_connections(port, SOL_SOCKET, SO_KEEPALIVE) == std::vector<int>{1, 1});
  CHECK(of_connections(port, IPPROTO_TCP, TCP_KEEPIDLE) == std::vector<int>{2, 2});
  CHECK(of_connections(port, IPPROTO_TCP, TCP_KEEPINTVL) == std::vector<int>{2, 2});
  CHECK(of_connections(port, IPPROTO_TCP, TCP_KEEPCNT) == std::vector<int>{2, 2});
  CHECK(of_connections(port, IPPROTO_TCP, TCP_USER_TIMEOUT) == std::vector<int>{6000, 6000});
}

TEST_CASE("a restarted peer with the same keys is heard and reached again") {
  for (const bool with_keys : {false, true}) {
    SocketFlock world(with_keys);
    world.add(kA), world.add(kB);
    const auto a = world.open(kA);
    auto b = world.open(kB);
    REQUIRE(world.pass(*a, *b, kB));
    REQUIRE(world.pass(*b, *a, kA));
    b.reset();
    for (int i = 0; i < 50; ++i) a->send(kB, Bytes(100, std::byte(i)));
    while (world.await(*a)) {
    }
    b = world.open(kB);
    CHECK(world.pass(*b, *a, kA));
    const auto first = world.pass(*a, *b, kB);
    REQUIRE(first);
    CHECK(first->frame == kFrame);  // nothing of what was said to the dead
  }
}

// libzmq's own heartbeats abort a process whose full connection breaks (its issue 4364): they would
// here, two seconds after.
TEST_CASE("a node that reads nothing outlives a peer that fills its inbox and dies") {
  for (const bool with_keys : {false, true}) {
    SocketFlock world(with_keys);
    world.add(kA), world.add(kB);
    const auto b = world.open(kB);
    auto a = world.open(kA);
    REQUIRE(world.pass(*a, *b, kB));
    for (int i = 0; i < 50'000; ++i) {
      a->send(kB, Bytes(1000, std::byte{1}));
      // Time for the threads that carry it: all the way there has to be full.
      if (i % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    REQUIRE(a->counters().dropped > 0);
    a.reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    int read = 0;
    while (world.await(*b)) ++read;
    CHECK(read >= 1000);
    a = world.open(kA);
    CHECK(world.pass(*a, *b, kB));
  }
}

TEST_CASE("a node that moves to a standby seat is reached there, by callers too") {
  for (const bool with_keys : {false, true}) {
    SocketFlock world(with_keys);
    world.add(kA), world.add(kB), world.add(kCaller);
    const KeyPair spare = generate_keys().value();
    world.flock[kA].standby = {
        {"ipc://" + (world.folder.path / "spare").string(), with_keys ? spare.public_key : ""}};
    const auto b = world.open(kB), caller = world.open(kCaller);
    auto at_home = world.open(kA);
    REQUIRE(world.pass(*b, *at_home, kA));
    const auto first = world.pass(*at_home, *b, kB);
    REQUIRE(first);
    CHECK(first->seat == 0);
    b->found_at(kA, 0);
    REQUIRE(world.pass(*caller, *at_home, kA));

    ZmqOptions options{kA, "", std::nullopt, {}, 1};
    if (with_keys) options.keys = spare;
    const auto elsewhere = ZmqEndpoint::open(options, world.flock, world.clock).value();
    at_home.reset();
    const auto second = world.pass(*elsewhere, *b, kB);
    REQUIRE(second);
    CHECK(second->from == kA);
    CHECK(second->seat == 1);
    CHECK_FALSE(world.await(*elsewhere));
    b->found_at(kA, 1);
    CHECK(world.pass(*b, *elsewhere, kA));
    while (world.await(*elsewhere)) {
    }
    CHECK(world.pass(*caller, *elsewhere, kA));
  }
}

TEST_CASE("a seat that was not granted does not open, and its key is refused") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  const auto opened = ZmqEndpoint::open({kA, "", world.keys[kA], {}, 1}, world.flock, world.clock);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().message == "bus: node 1 has no seat 1");
  Flock wrong = world.flock;
  wrong[kA].standby = {{world.flock[kB].address, generate_keys().value().public_key}};
  CHECK_FALSE(check_flock(wrong).ok());
  wrong[kA].standby = {{"ipc:///elsewhere", ""}};
  CHECK_FALSE(check_flock(wrong).ok());
}

TEST_CASE("nodes without place in the flock do not open") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  const auto why = [&](ZmqOptions options, const Flock& flock) {
    const auto r = ZmqEndpoint::open(options, flock, world.clock);
    return r.ok() ? std::string() : r.error().message;
  };
  CHECK(why({NodeId{9}, "", world.keys[kA], {}}, world.flock) == "bus: node 9 is not in the flock");
  CHECK(why({kA, "", world.keys[kB], {}}, world.flock) ==
        "bus: the key of node 1 is not the one that the flock knows");
  Flock mixed = world.flock;
  mixed[kB].public_key.clear();
  CHECK(why({kA, "", world.keys[kA], {}}, mixed) == "bus: node 2 has no key, but this node has");

  // Without keys nothing leaves the host.
  for (const char* address :
       {"tcp://10.0.0.1:7000", "tcp://*:7000", "tcp://0.0.0.0:7000", "ipc://@abstract"}) {
    Flock open = world.flock;
    for (auto& [node, m] : open) m.public_key.clear();
    CHECK(why({kA, address, std::nullopt, {}}, open).find("needs keys") != std::string::npos);
    open[kB].address = address;
    CHECK(why({kA, "", std::nullopt, {}}, open).find("needs keys") != std::string::npos);
  }
  Flock unreachable = world.flock;
  unreachable[kA].address = "ipc:///nowhere/at/all";
  CHECK(why({kA, "", world.keys[kA], {}}, unreachable)
            .starts_with("bus: cannot listen at ipc:///nowhere/at/all"));
}

TEST_CASE("an ipc socket is its owner's alone") {
  SocketFlock world(false);
  world.add(kA);
  const auto a = world.open(kA);
  const auto mode = std::filesystem::status(a->address().substr(6)).permissions();
  CHECK((mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
        std::filesystem::perms::none);
}

/// The clock of a test that cannot wait.
struct LeapingClock final : Clock {
  [[nodiscard]] Instant now() const noexcept override { return later(steady.now(), leap); }
  testing::SteadyClock steady;
  Duration leap{0};
};

TEST_CASE("a peer is reached also after another process had its port for a moment") {
  for (const bool with_keys : {false, true}) {
    SocketFlock world(with_keys);
    world.add(kA), world.add(kB);
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const any = reinterpret_cast<sockaddr*>(&at);
    REQUIRE(::bind(listener, any, size) == 0);
    REQUIRE(::listen(listener, 1) == 0);
    REQUIRE(::getsockname(listener, any, &size) == 0);
    world.flock[kB].address = "tcp://127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    LeapingClock clock;
    ZmqOptions options{kA, "", std::nullopt, {}};
    if (with_keys) options.keys = world.keys.at(kA);
    const auto a = ZmqEndpoint::open(options, world.flock, clock).value();
    a->send(kB, kFrame);
    const int called = ::accept(listener, nullptr, nullptr);
    REQUIRE(called >= 0);
    const std::string nonsense = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
    REQUIRE(::send(called, nonsense.data(), nonsense.size(), MSG_NOSIGNAL) > 0);
    char heard[256];
    while (::recv(called, heard, sizeof heard, 0) > 0) {
    }
    ::close(called);
    ::close(listener);
    const auto b = world.open(kB);
    a->send(kB, kFrame);
    clock.leap = std::chrono::seconds(11);
    CHECK(world.pass(*a, *b, kB));
  }
}

TEST_CASE("a peer that does not read costs a bounded queue, then frames are dropped") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  Limits limits;
  limits.outbox_frames = 10;
  const auto a = world.open(kA, limits), b = world.open(kB, limits);
  REQUIRE(world.pass(*a, *b, kB));
  const Bytes large(100'000);
  int taken = 0;
  for (int i = 0; i < 1000; ++i) taken += a->send(kB, large) ? 1 : 0;
  CHECK(taken < 500);
  CHECK(a->counters().dropped > 0);
  while (world.await(*b)) {
  }
  CHECK(world.pass(*a, *b, kB));  // and it recovers
}

TEST_CASE("receive keeps its deadline and wakes for a watched descriptor") {
  SocketFlock world(false);
  world.add(kA);
  const auto a = world.open(kA);
  const auto before = world.clock.now();
  CHECK_FALSE(world.await(*a, 60));
  const auto slept = world.clock.now() - before;
  CHECK(slept >= std::chrono::milliseconds(60));
  CHECK(slept < std::chrono::seconds(1));

  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  a->watch(ends[0]);
  REQUIRE(::write(ends[1], "x", 1) == 1);
  const auto start = world.clock.now();
  CHECK_FALSE(world.await(*a, 900));
  CHECK(world.clock.now() - start < std::chrono::milliseconds(500));
  ::close(ends[0]), ::close(ends[1]);
}

}  // namespace
}  // namespace starling
