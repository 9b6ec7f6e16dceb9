// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/node.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "bus/wire/roles.h"
#include "bus/wire/test_inbox.h"

namespace starling {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const NodeId kMe = agent_node(AgentId{0});
const NodeId kPeer = agent_node(AgentId{1});

/// Remembers in which order things left.
using Story = std::vector<std::string>;

struct FakeEndpoint : testing::Inbox {
  explicit FakeEndpoint(Story& s) : story(s) {}
  bool send(NodeId to, std::span<const std::byte> frame) override {
    if (!taking) return false;
    story.push_back("send");
    sent.push_back({to, {frame.begin(), frame.end()}});
    return true;
  }
  std::optional<Delivery> receive(Instant deadline) override {
    waits.push_back(deadline);
    return Inbox::receive(deadline);
  }
  void arrive(NodeId from, const Message& m, std::uint64_t incarnation = 1,
              std::uint64_t sequence = 1, std::uint64_t meant_for = 0) {
    FrameHeader header{1, Incarnation{incarnation}, sequence};
    header.meant_for = Incarnation{meant_for};
    const auto bytes = codec.encode(header, m);
    waiting.push_back({from, {bytes.begin(), bytes.end()}});
  }

  Story& story;
  Codec codec;
  bool taking = true;
  std::vector<Delivery> sent;
  std::vector<Instant> waits;
};

struct FakeJournal : Journal {
  explicit FakeJournal(Story& s) : story(s) {}
  Status append(std::span<const Record> records) override {
    if (broken) return {Errc::io, "disk full"};
    story.push_back("append " + std::to_string(records.size()));
    return done();
  }
  Result<std::vector<Record>> recover() override { return std::vector<Record>{}; }
  Status compact(std::span<const Record>) override { return done(); }

  Story& story;
  bool broken = false;
};

struct FakeClock : Clock {
  Instant now() const noexcept override { return at += milliseconds(1); }
  mutable Instant at{};
};

/// A core that writes one record and answers for each message, and says one thing at each Tick on
/// request.
class EchoNode : public Node {
 public:
  EchoNode(Endpoint& endpoint, Journal& journal, NodeOptions options = {}, NodeId me = kMe)
      : Node(me, Incarnation{5}, Limits{}, endpoint, &journal, options) {}
  [[nodiscard]] Instant next_deadline() const noexcept override { return deadline; }

  std::vector<Message> got;
  int refusals = 0, runs = 0;
  Instant deadline = kNever;
  bool speak = false;
  std::vector<Message> words;
  std::optional<Message> answer;  // instead of the Ping
  NodeId to = kPeer;              // of the words

 private:
  void receive(Instant, Received r) override {
    got.push_back(std::move(r.message));
    out_.persist.emplace_back(ShareLaunched{});
    out_.send.push_back({r.from, answer ? *answer : Ping{got.size()}});
  }
  void tick_core(Instant) override {
    if (speak) out_.send.push_back({kPeer, Ping{99}});
    for (Message& m : words) out_.send.push_back({to, std::move(m)});
    words.clear();
  }
  void refused() override { ++refusals; }
  void run_commands() override { ++runs; }
};

struct Fixture {
  Story story;
  FakeEndpoint endpoint{story};
  FakeJournal journal{story};
};

TEST_CASE_FIXTURE(Fixture, "one write for a batch, before anything is sent") {
  EchoNode node(endpoint, journal);
  for (std::uint64_t i = 0; i < 3; ++i) endpoint.arrive(kPeer, Ping{i});
  const auto turn = node.pump(Instant{});
  REQUIRE(turn.ok());
  CHECK(turn.value().frames == 3);
  CHECK_FALSE(turn.value().more);
  CHECK(story == Story{"append 3", "send", "send", "send"});
  CHECK(node.runs == 1);

  const Result<Frame> first = Codec().decode(endpoint.sent[0].frame);
  REQUIRE(first.ok());
  CHECK(first.value().header.incarnation == Incarnation{5});
  CHECK(first.value().header.sequence == 1);
  CHECK(Codec().decode(endpoint.sent[2].frame).value().header.sequence == 3);

  story.clear();
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(story.empty());  // nothing is said or written twice
}

TEST_CASE_FIXTURE(Fixture, "a journal that refuses ends the node before it has said anything") {
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

TEST_CASE_FIXTURE(Fixture, "a batch is bounded") {
  EchoNode node(endpoint, journal, {2, nullptr});
  for (std::uint64_t i = 0; i < 3; ++i) endpoint.arrive(kPeer, Ping{i});
  CHECK(node.pump(Instant{}).value().more);
  CHECK(node.got.size() == 2);
  CHECK_FALSE(node.pump(Instant{}).value().more);
  CHECK(node.got.size() == 3);
}

TEST_CASE_FIXTURE(Fixture, "absorb takes frames and leaves Tick to the caller") {
  EchoNode node(endpoint, journal);
  node.speak = true;
  endpoint.arrive(kPeer, Ping{1});
  REQUIRE(node.absorb(Instant{}).ok());
  CHECK(endpoint.sent.size() == 1);
  REQUIRE(node.tick(Instant{}).ok());
  CHECK(endpoint.sent.size() == 2);
}

TEST_CASE_FIXTURE(Fixture, "bad frames and overreach are counted and change nothing") {
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

TEST_CASE_FIXTURE(Fixture, "only the owner speaks for a partition") {
  EchoNode node(endpoint, journal);
  node.set_owner(PartitionId{1}, kPeer);
  const auto digest = [](std::uint32_t p, std::uint64_t v) {
    return Digest{{PartitionId{p}, Epoch{1}}, v};
  };
  endpoint.arrive(kPeer, digest(1, 1));
  endpoint.arrive(agent_node(AgentId{2}), digest(1, 2));
  endpoint.arrive(kPeer, digest(7, 3));  // nobody's
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(node.got.size() == 1);
  CHECK(node.counters().unauthorised == 2);

  node.set_owner(PartitionId{1}, agent_node(AgentId{2}));
  endpoint.arrive(agent_node(AgentId{2}), digest(1, 3));
  REQUIRE(node.pump(Instant{}).ok());
  CHECK(node.got.size() == 2);
}

TEST_CASE_FIXTURE(Fixture, "earlier lives and overtaken hints are dropped") {
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

Launch some_launch() {
  Launch launch;
  launch.spec.workers = launch.spec.gpus_per_worker = 1;
  launch.here = {GpuId{0}};
  launch.gang = {{PartitionId{0}, launch.here}};
  return launch;
}

TEST_CASE_FIXTURE(Fixture, "a Launch is for the life of the executor that its owner has heard") {
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

TEST_CASE_FIXTURE(Fixture, "what answers one life of a node is not taken by another for its own") {
  const NodeId executor = executor_node(0);
  const Welcome welcome{{PartitionId{0}, Epoch{1}}};
  const Goodbye goodbye{"agent 0 has read another topology"};
  EchoNode node(endpoint, journal, {}, executor);  // of life 5
  endpoint.arrive(kPeer, welcome, 1, 1, 4);
  endpoint.arrive(kPeer, goodbye, 1, 2, 4);
  endpoint.arrive(kPeer, welcome, 1, 3, 5);
  endpoint.arrive(kPeer, goodbye, 1, 4);  // of somebody who does not say which life is meant
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

TEST_CASE_FIXTURE(Fixture, "an executor runs nothing that was sent before its owner greeted it") {
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

TEST_CASE_FIXTURE(Fixture, "what the endpoint does not take is dropped and counted") {
  EchoNode node(endpoint, journal);
  node.speak = true;
  endpoint.taking = false;
  REQUIRE(node.tick(Instant{}).ok());
  endpoint.taking = true;
  REQUIRE(node.tick(Instant{}).ok());
  CHECK(node.counters().dropped == 1);
  CHECK(node.counters().frames_out == 1);
}

TEST_CASE_FIXTURE(Fixture, "run_until sleeps until the core's deadline, and ends at its own") {
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

TEST_CASE_FIXTURE(Fixture, "a peer is spoken to in the newest protocol that both know") {
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

TEST_CASE_FIXTURE(Fixture, "who came back with an older version understands what clients say") {
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

TEST_CASE_FIXTURE(Fixture, "why a peer refuses is kept for the log") {
  EchoNode node(endpoint, journal);
  CHECK(node.goodbye().empty());
  endpoint.arrive(kPeer, Goodbye{"agent 1 speaks protocols 1 to 2, and you 3 to 3"});
  REQUIRE(node.absorb(Instant{}).ok());
  CHECK(node.goodbye() == "agent 1 speaks protocols 1 to 2, and you 3 to 3");
}

TEST_CASE_FIXTURE(Fixture, "who may not speak takes no turn, and hears later what came meanwhile") {
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

TEST_CASE_FIXTURE(Fixture,
                  "whoever wakes up after his lease says nothing, wherever he stood still") {
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
