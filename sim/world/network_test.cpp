// SPDX-License-Identifier: Apache-2.0
#include "sim/world/network.h"

#include <doctest/doctest.h>

// The network loses, repeats, delays and reorders, and never alters. Each test states what would
// betray the model.

namespace starling {
namespace {

using namespace std::chrono_literals;

struct Wire {
  explicit Wire(const NetworkModel& model, std::uint64_t seed = 1)
      : network(model, Rng(seed), Limits{}, queue, clock) {}

  void send(std::uint8_t number, NodeId from = NodeId{1}) {
    const std::byte byte{number};
    REQUIRE(network.send(from, NodeId{2}, {&byte, 1}));
  }
  std::vector<std::uint8_t> arrivals() {
    std::vector<std::uint8_t> all;
    while (!queue.empty()) {
      const SimEvent e = queue.pop();
      clock.set(e.at);
      all.push_back(static_cast<std::uint8_t>(network.arrive(e.token).bytes.at(0)));
    }
    return all;
  }

  EventQueue queue;
  SimClock clock;
  Network network;
};

TEST_CASE(
    "events of one instant: departures, messages, arrivals, decisions; then in order of push") {
  EventQueue queue;
  const Instant now{5s};
  queue.push(now, EventKind::tick, 1);
  queue.push(now, EventKind::submission, 2);
  queue.push(now, EventKind::delivery, 3);
  queue.push(now, EventKind::gang_end, 4);
  queue.push(now, EventKind::delivery, 5);
  queue.push(now - 1ns, EventKind::tick, 6);
  std::vector<std::uint32_t> order;
  while (!queue.empty()) order.push_back(queue.pop().target);
  CHECK(order == std::vector<std::uint32_t>{6, 4, 3, 5, 2, 1});
}

TEST_CASE("the ideal network takes no time and keeps the order") {
  Wire wire(NetworkModel::ideal());
  for (std::uint8_t i = 0; i < 50; ++i) wire.send(i);
  const auto got = wire.arrivals();
  CHECK(got.size() == 50);
  CHECK(std::is_sorted(got.begin(), got.end()));
  CHECK(wire.clock.now() == Instant{});
}

TEST_CASE("a single frame may be picked to be lost, said twice, or late") {
  Wire wire(NetworkModel::lan());
  using Fate = Network::Tampered;
  const Fate fates[] = {Fate::no, Fate::lost, Fate::repeated, Fate::late, Fate::no};
  wire.network.set_tamper([&](NodeId, NodeId, std::vector<std::byte>& frame) {
    return fates[static_cast<std::size_t>(frame.at(0))];
  });
  for (std::uint8_t i = 0; i < 5; ++i) wire.send(i);
  auto got = wire.arrivals();
  CHECK(std::vector(got.begin(), got.begin() + 3) == std::vector<std::uint8_t>{0, 2, 4});
  std::sort(got.begin(), got.end());
  CHECK(got == std::vector<std::uint8_t>{0, 2, 2, 3, 4});
  CHECK(wire.network.lost() == 1);
  CHECK(wire.network.repeated() == 1);
  CHECK(wire.network.overtaken() == 1);
  CHECK(wire.clock.now() > Instant{100ms});
  CHECK(wire.clock.now() <= Instant{Network::kLatest + 1s});
}

TEST_CASE("jitter alone does not reorder a link; reordering does") {
  NetworkModel model = NetworkModel::lan();
  SUBCASE("in order") {
    Wire wire(model);
    for (std::uint8_t i = 0; i < 100; ++i) wire.send(i);
    const auto got = wire.arrivals();
    CHECK(got.size() == 100);
    CHECK(std::is_sorted(got.begin(), got.end()));
    CHECK(wire.clock.now() > Instant{});
  }
  SUBCASE("overtaken") {
    model.reorder = 0.2;
    Wire wire(model);
    for (std::uint8_t i = 0; i < 100; ++i) wire.send(i);
    const auto got = wire.arrivals();
    CHECK(got.size() == 100);
    CHECK_FALSE(std::is_sorted(got.begin(), got.end()));
  }
}

TEST_CASE("loss and duplication come about as often as asked, and a cut link carries nothing") {
  NetworkModel model = NetworkModel::lan();
  model.loss = 0.1;
  model.duplication = 0.3;
  Wire wire(model);
  for (int i = 0; i < 2000; ++i) wire.send(0);
  CHECK(wire.network.lost() > 150);
  CHECK(wire.network.lost() < 250);
  CHECK(wire.network.repeated() > 440);
  CHECK(wire.arrivals().size() == 2000 - wire.network.lost() + wire.network.repeated());
  wire.network.cut(NodeId{1}, NodeId{2}, true);
  wire.send(0);
  CHECK(wire.arrivals().empty());
  wire.network.cut(NodeId{1}, NodeId{2}, false);
  for (int i = 0; i < 10; ++i) wire.send(0);
  CHECK_FALSE(wire.arrivals().empty());
}

TEST_CASE("two owners of one partition have one name and two places, and places are parted") {
  constexpr Place kOld{2}, kNew{77};
  Wire wire(NetworkModel::lan());
  wire.network.set_places([&](NodeId node, std::vector<Place>& there) {
    there.push_back(home_of(node));
    if (node == NodeId{2}) there.push_back(kNew);
  });
  const auto arrival = [&] {
    const SimEvent e = wire.queue.pop();
    wire.clock.set(e.at);
    return wire.network.arrive(e.token);
  };
  wire.network.cut(Place{1}, kOld, true);
  wire.send(0);
  Network::InFlight frame = arrival();
  CHECK_FALSE(frame.reaches(kOld));
  CHECK(frame.reaches(kNew));
  wire.network.cut(Place{1}, kOld, false);

  wire.network.move(Place{1}, 1);
  wire.send(0);
  CHECK(wire.queue.empty());
  wire.network.move(kOld, 1);
  wire.send(0);
  frame = arrival();
  CHECK(frame.reaches(kOld));
  CHECK_FALSE(frame.reaches(kNew));
  wire.network.move(Place{1}, 0);
  wire.network.move(kOld, 0);
  wire.send(0);
  frame = arrival();
  CHECK(frame.reaches(kOld));
  CHECK(frame.reaches(kNew));
}

TEST_CASE("a frame larger than frames may be is refused") {
  Wire wire(NetworkModel::ideal());
  const std::vector<std::byte> large(Limits{}.frame_bytes + 1);
  CHECK_FALSE(wire.network.send(NodeId{1}, NodeId{2}, large));
}

}  // namespace
}  // namespace starling
