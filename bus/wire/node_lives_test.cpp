// SPDX-License-Identifier: Apache-2.0
// Which life of a peer a frame is from, which life of this node it is for, and who has a lease.
#include <doctest/doctest.h>

#include <algorithm>

#include "bus/wire/test_node.h"

namespace starling {
namespace {

using namespace testing;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE_FIXTURE(NodeFixture, "earlier lives and overtaken hints are dropped") {
  EchoNode node(endpoint, journal);
  const auto digest = [](std::uint64_t version) { return Digest{{}, version}; };
  endpoint.arrive(kPeer, Ping{1}, 2);
  endpoint.arrive(kPeer, Ping{2}, 1);                   // an earlier life
  endpoint.arrive(agent_node(AgentId{2}), Ping{3}, 1);  // of another node: fine
  endpoint.arrive(kPeer, digest(5), 2);
  endpoint.arrive(kPeer, digest(5), 2);  // repeated
  endpoint.arrive(kPeer, digest(4), 2);  // overtaken
  endpoint.arrive(kPeer, digest(1), 3);  // first of a new life
  endpoint.arrive(kPeer, Pong{1, 0}, 3);
  endpoint.arrive(kPeer, Pong{1, 0}, 3);
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(node.counters().stale == 4);
  CHECK(node.got.size() == 5);
}

TEST_CASE_FIXTURE(NodeFixture, "where a life of a peer speaks from is said once") {
  EchoNode node(endpoint, journal);
  const NodeId other = agent_node(AgentId{2});
  for (std::uint64_t i = 1; i <= 3; ++i) endpoint.arrive(kPeer, Ping{i}, 1);
  endpoint.arrive(other, Ping{4}, 1);
  for (std::uint64_t i = 5; i <= 6; ++i) endpoint.arrive(kPeer, Ping{i}, 2);
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(endpoint.found == std::vector<NodeId>{kPeer, other, kPeer});
}

Launch some_launch() {
  Launch launch;
  launch.spec.workers = launch.spec.gpus_per_worker = 1;
  launch.here = {GpuId{0}};
  launch.gang = {{PartitionId{0}, launch.here}};
  return launch;
}

TEST_CASE_FIXTURE(NodeFixture,
                  "a Launch is for the life of the executor that its owner has heard") {
  EchoNode owner(endpoint, journal);
  const NodeId executor = executor_node(0);
  endpoint.arrive(executor, Hello{Role::executor, 1, 1, ""}, 7);
  REQUIRE(owner.pump(Instant{}).ok());
  endpoint.sent.clear();
  owner.words = {some_launch(), Kill{}};
  owner.to = executor;
  REQUIRE(owner.tick(Instant{}).ok());
  REQUIRE(endpoint.sent.size() == 2);
  CHECK(endpoint.codec.decode(endpoint.sent[0].frame).value().header.meant_for == Incarnation{7});
  CHECK(endpoint.codec.decode(endpoint.sent[1].frame).value().header.meant_for == Incarnation{});

  // What an executor of life 5 makes of it, whatever it was greeted with and when.
  EchoNode node(endpoint, journal, {}, executor);
  endpoint.arrive(kPeer, Welcome{{PartitionId{0}, Epoch{1}}}, 1, 2);
  endpoint.arrive(kPeer, some_launch(), 1, 4, 4);  // an earlier life, after an old greeting
  endpoint.arrive(kPeer, some_launch(), 1, 9, 5);
  endpoint.arrive(kPeer, InventoryRequest{{PartitionId{0}, Epoch{1}}}, 1, 12);
  endpoint.arrive(kPeer, some_launch(), 1, 10, 5);  // overtaken by a greeting: still for this life
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(node.got.size() == 4);
  CHECK(node.counters().stale == 1);
}

TEST_CASE_FIXTURE(NodeFixture,
                  "what answers one life of a node is not taken by another for its own") {
  const NodeId executor = executor_node(0);
  const Welcome welcome{{PartitionId{0}, Epoch{1}}};
  const Goodbye goodbye{"agent 0 has read another topology"};
  EchoNode node(endpoint, journal, {}, executor);  // of life 5
  endpoint.arrive(kPeer, welcome, 1, 1, 4);
  endpoint.arrive(kPeer, goodbye, 1, 2, 4);
  endpoint.arrive(kPeer, welcome, 1, 3, 5);
  endpoint.arrive(kPeer, goodbye, 1, 4);  // of a peer that does not say which life is meant
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(node.got.size() == 2);
  CHECK(node.counters().stale == 2);
  CHECK(node.goodbye() == goodbye.reason);

  // Nor is it sent to another, where both were heard before anything left.
  EchoNode owner(endpoint, journal);
  endpoint.sent.clear();
  owner.answer = welcome;
  endpoint.arrive(executor, Hello{Role::executor, 1, 1, ""}, 7);
  endpoint.arrive(executor, Ping{1}, 8);
  REQUIRE(owner.pump(Instant{}).ok());
  REQUIRE(endpoint.sent.size() == 1);
  CHECK(endpoint.codec.decode(endpoint.sent[0].frame).value().header.meant_for == Incarnation{8});
}

TEST_CASE_FIXTURE(NodeFixture,
                  "an executor runs nothing that was sent before its owner greeted it") {
  EchoNode node(endpoint, journal, {}, executor_node(0));
  const Launch launch = some_launch();
  endpoint.arrive(kPeer, InventoryRequest{{PartitionId{0}, Epoch{1}}}, 1, 8);
  endpoint.arrive(kPeer, launch, 1, 7);  // overtaken, or sent twice
  endpoint.arrive(kPeer, launch, 1, 9);
  endpoint.arrive(kPeer, launch, 2, 3);  // the owner's next life
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(node.got.size() == 3);
  CHECK(node.counters().stale == 1);
}

TEST_CASE_FIXTURE(NodeFixture,
                  "a node that may not speak runs no cycle, and hears later what came meanwhile") {
  EchoNode node(endpoint, journal);
  node.may_speak_until(Instant{} + seconds(4));
  node.speak = true;
  endpoint.arrive(kPeer, Ping{1});
  CHECK(node.may_speak(Instant{} + milliseconds(3999)));
  for (const seconds at : {seconds(4), seconds(300)}) {
    CHECK(node.pump(Instant{} + at).value().frames == 0);
    CHECK(node.absorb(Instant{} + at).value().frames == 0);
    CHECK(node.tick(Instant{} + at).ok());
  }
  CHECK(story.empty());
  CHECK(node.got.empty());
  CHECK(node.counters().ticks == 0);

  node.may_speak_until(Instant{} + seconds(305));
  REQUIRE(node.pump(Instant{} + seconds(301)).ok());
  CHECK(story == Story{"append 1", "send", "send"});
}

/// Stands still, as a stopped process, when it is read for the nth time.
struct StoppedClock : Clock {
  Instant now() const noexcept override {
    if (++reads == stops_at) at += seconds(300);
    return at += milliseconds(1);
  }
  int stops_at = 0;
  mutable int reads = 0;
  mutable Instant at{};
};

TEST_CASE_FIXTURE(NodeFixture,
                  "a node that wakes up after its lease says nothing, wherever it stood still") {
  std::size_t said = 0, heard = 0;
  for (int stop = 1; stop <= 9; ++stop) {
    CAPTURE(stop);
    story.clear();
    endpoint.sent.clear();
    endpoint.waiting.clear();
    StoppedClock clock;
    clock.stops_at = stop;
    NodeOptions options;
    options.clock = &clock;
    EchoNode node(endpoint, journal, options);
    node.may_speak_until(Instant{} + seconds(5));
    for (std::uint64_t i = 0; i < 3; ++i) endpoint.arrive(kPeer, Ping{i});
    REQUIRE(node.run_until(Instant{} + seconds(600)).ok());
    CHECK_FALSE(node.may_speak(clock.now()));
    CHECK(endpoint.sent.size() + node.counters().unsaid == node.got.size());
    said = std::max(said, endpoint.sent.size());
    heard += node.got.size();

    INFO("what came is not lost: it is heard once the lease runs again");
    node.may_speak_until(kNever);
    REQUIRE(node.pump(clock.now()).ok());
    CHECK(node.got.size() == 3);
  }
  CHECK(said == 3);
  CHECK(heard < 27);
}

}  // namespace
}  // namespace starling
