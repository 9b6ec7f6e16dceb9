// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/node.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "bus/wire/roles.h"
#include "bus/wire/test_node.h"

namespace starling {
namespace {

using namespace testing;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE_FIXTURE(NodeFixture, "one write for a batch, before anything is sent") {
  EchoNode node(endpoint, journal);
  for (std::uint64_t i = 0; i < 3; ++i) endpoint.arrive(kPeer, Ping{i});
  const auto cycle = node.pump(Instant{});
  REQUIRE(cycle.ok());
  CHECK(cycle.value().frames == 3);
  CHECK_FALSE(cycle.value().more);
  CHECK(story == Story{"append 3", "send", "send", "send"});
  CHECK(node.runs == 1);
  CHECK(node.counters().records == 3);

  const Result<Frame> first = Codec().decode(endpoint.sent[0].frame);
  REQUIRE(first.ok());
  CHECK(first.value().header.incarnation == Incarnation{5});
  CHECK(first.value().header.sequence == 1);
  CHECK(Codec().decode(endpoint.sent[2].frame).value().header.sequence == 3);

  story.clear();
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(story.empty());  // nothing is said or written twice
}

TEST_CASE_FIXTURE(NodeFixture, "a journal that refuses ends the node before it has said anything") {
  EchoNode node(endpoint, journal);
  journal.broken = true;
  endpoint.arrive(kPeer, Ping{1});
  CHECK(node.pump(Instant{}).error().code == Errc::io);
  journal.broken = false;
  CHECK_FALSE(node.pump(Instant{}).ok());
  CHECK_FALSE(node.absorb(Instant{}).ok());
  CHECK_FALSE(node.tick(Instant{}).ok());
  CHECK(endpoint.sent.empty());
  CHECK(node.runs == 0);
}

TEST_CASE_FIXTURE(NodeFixture, "a batch is bounded") {
  EchoNode node(endpoint, journal, {2, nullptr});
  for (std::uint64_t i = 0; i < 3; ++i) endpoint.arrive(kPeer, Ping{i});
  CHECK(node.pump(Instant{}).value().more);
  CHECK(node.got.size() == 2);
  CHECK_FALSE(node.pump(Instant{}).value().more);
  CHECK(node.got.size() == 3);
}

TEST_CASE_FIXTURE(NodeFixture, "absorb takes frames and leaves Tick to the caller") {
  EchoNode node(endpoint, journal);
  node.speak = true;
  endpoint.arrive(kPeer, Ping{1});
  REQUIRE(node.absorb(Instant{}).ok());
  CHECK(endpoint.sent.size() == 1);
  REQUIRE(node.tick(Instant{}).ok());
  CHECK(endpoint.sent.size() == 2);
}

TEST_CASE_FIXTURE(NodeFixture, "bad frames and overreach are counted and change nothing") {
  EchoNode node(endpoint, journal);
  endpoint.waiting.push_back({kPeer, std::vector<std::byte>(100)});
  endpoint.arrive(executor_node(0), Release{});
  endpoint.arrive(client_node(0), Commit{{}, {}, {}, {{PartitionId{0}, {GpuId{0}}}}, {}});
  endpoint.arrive(NodeId{0}, Ping{1});
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(node.got.empty());
  CHECK(node.counters().bad_frames == 1);
  CHECK(node.counters().unauthorised == 3);
  CHECK(node.refusals == 4);
  CHECK(story.empty());
}

TEST_CASE_FIXTURE(NodeFixture, "only the owner speaks for a partition") {
  EchoNode node(endpoint, journal);
  node.set_owner(PartitionId{1}, kPeer);
  const auto digest = [](std::uint32_t p, std::uint64_t v) {
    return Digest{{PartitionId{p}, Epoch{1}}, v};
  };
  endpoint.arrive(kPeer, digest(1, 1));
  endpoint.arrive(agent_node(AgentId{2}), digest(1, 2));
  endpoint.arrive(kPeer, digest(7, 3));  // of none that is known
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(node.got.size() == 1);
  CHECK(node.counters().unauthorised == 2);

  node.set_owner(PartitionId{1}, agent_node(AgentId{2}));
  endpoint.arrive(agent_node(AgentId{2}), digest(1, 3));
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(node.got.size() == 2);
}

TEST_CASE_FIXTURE(NodeFixture, "what the endpoint does not take is dropped and counted") {
  EchoNode node(endpoint, journal);
  node.speak = true;
  endpoint.taking = false;
  REQUIRE(node.tick(Instant{}).ok());
  endpoint.taking = true;
  REQUIRE(node.tick(Instant{}).ok());
  CHECK(node.counters().dropped == 1);
  CHECK(node.counters().frames_out == 1);
}

TEST_CASE_FIXTURE(NodeFixture, "run_until sleeps until the core's deadline, and ends at its own") {
  FakeClock clock;
  EchoNode node(endpoint, journal, {8, &clock});
  node.deadline = Instant{milliseconds(7)};
  endpoint.arrive(kPeer, Ping{1});
  const auto stopped = node.run_until(Instant{milliseconds(20)});
  REQUIRE(stopped.ok());
  CHECK_FALSE(stopped.value());
  CHECK(endpoint.waits.front() == Instant{milliseconds(7)});
  CHECK(node.got.size() == 1);

  node.request_stop();
  CHECK(node.run_until(Instant{seconds(9)}).value());
}

TEST_CASE_FIXTURE(NodeFixture, "a peer is spoken to in the newest protocol that both know") {
  EchoNode node(endpoint, journal);
  const Message news = ProbeResult{kPeer, true};
  const auto say = [&](const Message& m) {
    endpoint.sent.clear();
    node.words = {m};
    REQUIRE(node.tick(Instant{}).ok());
  };
  say(news);  // nothing was heard of it yet
  CHECK(endpoint.sent.empty());
  CHECK(node.counters().withheld == 1);

  Codec old({}, 1);
  const auto bytes = old.encode({1, Incarnation{1}, 1}, Ping{1});
  endpoint.waiting.push_back({kPeer, {bytes.begin(), bytes.end()}});
  REQUIRE(node.absorb(Instant{}).ok());
  say(news);
  CHECK(endpoint.sent.empty());
  CHECK(node.counters().withheld == 2);

  endpoint.arrive(kPeer, Ping{2}, 2);  // its next life is of this version
  REQUIRE(node.absorb(Instant{}).ok());
  say(news);
  REQUIRE(endpoint.sent.size() == 1);
  Codec codec;
  CHECK(codec.decode(endpoint.sent.front().frame).value().header.protocol == 2);
  say(Goodbye{"so long"});  // understood by everybody
  REQUIRE(endpoint.sent.size() == 1);
  CHECK(codec.decode(endpoint.sent.front().frame).value().header.protocol == 1);
}

TEST_CASE_FIXTURE(NodeFixture,
                  "a node that came back with an older version understands what clients say") {
  EchoNode node(endpoint, journal);
  endpoint.arrive(kPeer, Ping{1});
  REQUIRE(node.absorb(Instant{}).ok());  // it speaks the newest
  endpoint.sent.clear();
  node.words = {Query{JobId{1, 2}}};
  REQUIRE(node.tick(Instant{}).ok());
  REQUIRE(endpoint.sent.size() == 1);
  Codec older({}, 1);
  CHECK(older.decode(endpoint.sent.front().frame).ok());
}

TEST_CASE_FIXTURE(NodeFixture, "why a peer refuses is kept for the log") {
  EchoNode node(endpoint, journal);
  CHECK(node.goodbye().empty());
  endpoint.arrive(kPeer, Goodbye{"agent 1 speaks protocols 1 to 2, and you 3 to 3"});
  REQUIRE(node.absorb(Instant{}).ok());
  CHECK(node.goodbye() == "agent 1 speaks protocols 1 to 2, and you 3 to 3");
}

}  // namespace
}  // namespace starling
