// SPDX-License-Identifier: Apache-2.0
// Lives of nodes: one with an old copy of its state is told so by any that knows more, and ends.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bus/wire/node.h"
#include "bus/wire/test_inbox.h"

namespace starling {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const NodeId kAgent = agent_node(AgentId{0});
const NodeId kExecutor = executor_node(0);

/// One direction to each of two nodes; who sends is who does not receive.
struct Wire : testing::Inbox {
  explicit Wire(NodeId me) : me_(me) {}
  bool send(NodeId, std::span<const std::byte> frame) override {
    other->waiting.push_back({me_, {frame.begin(), frame.end()}});
    last.assign(frame.begin(), frame.end());
    return true;
  }
  Wire* other = nullptr;
  std::vector<std::byte> last;

 private:
  NodeId me_;
};

struct CountingJournal : Journal {
  Status append(std::span<const Record> records) override {
    kept.insert(kept.end(), records.begin(), records.end());
    written += records.size();
    return done();
  }
  Result<std::vector<Record>> recover() override { return kept; }
  Status compact(std::span<const Record> records) override {
    kept.assign(records.begin(), records.end());
    written += records.size();
    return done();
  }
  [[nodiscard]] std::uint64_t position() const override { return written; }

  std::vector<Record> kept;
  std::uint64_t written = 0;
};

/// Writes one record for each message, and says what it is told to at the next cycle.
class PlainNode : public Node {
 public:
  PlainNode(NodeId me, std::uint64_t life, std::uint64_t born, Wire& wire, Journal& journal,
            std::optional<std::uint64_t> began = {})
      : Node(me, Incarnation{life}, Limits{}, wire, &journal, options(born, began)) {}
  [[nodiscard]] Instant next_deadline() const noexcept override { return kNever; }
  using Node::compact_to;

  std::vector<Message> got;
  std::vector<Send> words;
  std::uint64_t works = 0;  ///< records to be written at the next cycle
  int refusals = 0, runs = 0;

 private:
  static NodeOptions options(std::uint64_t born, std::optional<std::uint64_t> began) {
    NodeOptions o;
    o.born = born;
    o.began = began;
    o.sole = true;
    return o;
  }
  void receive(Instant, Received r) override {
    got.push_back(std::move(r.message));
    out_.persist.emplace_back(ShareLaunched{});
  }
  void tick_core(Instant) override {
    for (; works > 0; --works) out_.persist.emplace_back(ShareLaunched{});
    for (Send& word : words) out_.send.push_back(std::move(word));
    words.clear();
  }
  void refused() override { ++refusals; }
  void run_commands() override { ++runs; }
};

struct Pair {
  Wire agent_wire{kAgent}, executor_wire{kExecutor};
  CountingJournal agent_journal, executor_journal;
  Pair() {
    agent_wire.other = &executor_wire;
    executor_wire.other = &agent_wire;
  }
  /// A life of the agent that writes so much, and then says a word to the executor.
  void live(std::uint64_t life, std::uint64_t born, std::uint64_t works, PlainNode& executor) {
    PlainNode agent(kAgent, life, born, agent_wire, agent_journal);
    agent.works = works;
    agent.words = {{kExecutor, InventoryRequest{}}};
    REQUIRE(agent.pump(Instant{}).ok());
    REQUIRE(executor.pump(Instant{}).ok());
  }
  /// What becomes of a life that begins from `written` records.
  Status comes_back(std::uint64_t life, std::uint64_t born, std::uint64_t written,
                    PlainNode& executor, Instant now = Instant{} + seconds(10),
                    std::optional<std::uint64_t> began = {}) {
    agent_journal.written = written;
    agent_wire.waiting.clear();
    PlainNode agent(kAgent, life, born, agent_wire, agent_journal, began);
    agent.works = 1;
    agent.words = {{kExecutor, InventoryRequest{}}};
    REQUIRE(agent.pump(now).ok());
    const std::size_t heard = executor.got.size();
    REQUIRE(executor.pump(now).ok());
    obeyed = executor.got.size() > heard;
    const auto cycle = agent.pump(now);
    outlived = agent.outlived();
    if (!cycle.ok()) {
      CHECK(agent.runs == 1);  // those of the first cycle; nothing since
      CHECK_FALSE(agent.tick(now).ok());
      return cycle.error();
    }
    return done();
  }
  bool obeyed = false;
  std::optional<Outlived> outlived;
};

TEST_CASE_FIXTURE(Pair, "an earlier life is told which later one is known, and ends") {
  PlainNode executor(kExecutor, 1, 77, executor_wire, executor_journal);
  live(4, 1001, 360, executor);
  const Status ended = comes_back(2, 1002, 230, executor);
  CHECK_FALSE(obeyed);
  REQUIRE_FALSE(ended.ok());
  CHECK(ended.error().code == Errc::fenced);
  CHECK(ended.error().message ==
        "you are life 2, with 230 records; I know your life 4, with 360 records");
  REQUIRE(outlived.has_value());
  CHECK(outlived->by == kExecutor);
  CHECK(outlived->life == Incarnation{4});
  CHECK(outlived->written == 360);
  CHECK(executor.counters().old_copies == 1);
}

TEST_CASE_FIXTURE(Pair, "a later life that lacks records of an earlier one is told, too") {
  PlainNode executor(kExecutor, 1, 77, executor_wire, executor_journal);
  live(2, 1001, 360, executor);
  CHECK_FALSE(comes_back(3, 1002, 230, executor).ok());
  CHECK_FALSE(obeyed);
  CHECK(executor.refusals == 1);

  INFO("one that goes on from the last record is not, and neither is one that skipped some");
  CHECK(comes_back(3, 1003, 360, executor).ok());
  CHECK(obeyed);
  CHECK(comes_back(1003, 1004, 1'000'000'000, executor).ok());
  CHECK(obeyed);
}

TEST_CASE_FIXTURE(Pair, "a copy that lacks as much as its new life has written since is told") {
  PlainNode executor(kExecutor, 1, 77, executor_wire, executor_journal);
  live(4, 1001, 7, executor);
  const Status ended = comes_back(5, 1002, 6, executor);
  CHECK_FALSE(obeyed);
  REQUIRE_FALSE(ended.ok());
  CHECK(ended.error().message ==
        "you are life 5, with 6 records; I know your life 4, with 7 records");

  INFO("an emptied one, too");
  CHECK_FALSE(comes_back(6, 1003, 0, executor, Instant{} + seconds(20)).ok());
  CHECK_FALSE(obeyed);
}

TEST_CASE_FIXTURE(Pair, "what was written since the journal was read does not count as found") {
  PlainNode executor(kExecutor, 1, 77, executor_wire, executor_journal);
  live(4, 1001, 7, executor);
  CHECK_FALSE(comes_back(5, 1002, 500, executor, Instant{} + seconds(10), 6).ok());
  CHECK_FALSE(obeyed);
  CHECK(comes_back(5, 1003, 500, executor, Instant{} + seconds(20), 7).ok());
  CHECK(obeyed);
}

TEST_CASE_FIXTURE(Pair, "of an earlier program, which says only how far it is, that counts") {
  PlainNode executor(kExecutor, 1, 77, executor_wire, executor_journal);
  live(4, 1001, 7, executor);
  Codec codec;
  FrameHeader header{1, Incarnation{5}, 1};
  header.born = 1002;
  const auto obeys = [&](std::uint64_t written) {
    header.written = written;
    const auto bytes = codec.encode(header, InventoryRequest{});
    executor_wire.waiting.push_back({kAgent, {bytes.begin(), bytes.end()}});
    const std::size_t heard = executor.got.size();
    REQUIRE(executor.pump(Instant{} + seconds(10)).ok());
    return executor.got.size() > heard;
  };
  CHECK_FALSE(obeys(6));
  CHECK(obeys(7));
}

TEST_CASE_FIXTURE(Pair, "two lives of one number are told apart") {
  PlainNode executor(kExecutor, 1, 77, executor_wire, executor_journal);
  live(3, 1001, 360, executor);
  CHECK_FALSE(comes_back(3, 1002, 300, executor).ok());
  CHECK_FALSE(obeyed);
}

TEST_CASE_FIXTURE(
    Pair, "what is known of an agent outlives the agent that knows it, and its compaction") {
  {
    PlainNode executor(kExecutor, 1, 77, executor_wire, executor_journal);
    live(2, 1001, 360, executor);
    CHECK(executor_journal.kept.size() == 2);  // its own record and PeerKnown, in one append
  }
  {
    PlainNode executor(kExecutor, 2, 78, executor_wire, executor_journal);
    executor.recall(executor_journal.kept);
    REQUIRE(executor.compact_to({}).ok());
    CHECK(executor_journal.kept.size() == 1);
  }
  PlainNode executor(kExecutor, 3, 79, executor_wire, executor_journal);
  executor.recall(executor_journal.kept);
  CHECK_FALSE(comes_back(3, 1002, 230, executor).ok());
  CHECK_FALSE(obeyed);
  CHECK(comes_back(4, 1003, 360, executor).ok());
  CHECK(obeyed);
}

TEST_CASE_FIXTURE(Pair, "an agent that begins anew knows the lives of its executors") {
  const auto heard_from = [&](std::uint64_t agent_life, std::uint64_t life, std::uint64_t born) {
    PlainNode agent(kAgent, agent_life, 1000 + agent_life, agent_wire, agent_journal);
    agent.recall(agent_journal.kept);
    PlainNode executor(kExecutor, life, born, executor_wire, executor_journal);
    executor.words = {{kAgent, Ping{1}}};
    REQUIRE(executor.pump(Instant{}).ok());
    REQUIRE(agent.pump(Instant{} + seconds(10)).ok());
    executor_wire.waiting.clear();
    return !agent.got.empty();
  };
  CHECK(heard_from(1, 12, 77));
  CHECK_FALSE(heard_from(2, 6, 78));  // its journal is an old copy
  CHECK(heard_from(3, 13, 79));
  const auto known = std::count_if(agent_journal.kept.begin(), agent_journal.kept.end(),
                                   [](const Record& r) { return std::get_if<PeerKnown>(&r); });
  CHECK(known == 2);  // one a life
}

TEST_CASE_FIXTURE(Pair, "a late frame of a life that is over does no harm") {
  PlainNode executor(kExecutor, 1, 77, executor_wire, executor_journal);
  live(2, 1001, 10, executor);
  const std::vector<std::byte> late = agent_wire.last;
  PlainNode agent(kAgent, 3, 1002, agent_wire, agent_journal);
  agent.works = 1;
  agent.words = {{kExecutor, InventoryRequest{}}};
  REQUIRE(agent.pump(Instant{}).ok());
  REQUIRE(executor.pump(Instant{}).ok());
  for (int i = 0; i < 5; ++i) executor_wire.waiting.push_back({kAgent, late});
  REQUIRE(executor.pump(Instant{}).ok());
  CHECK(executor.counters().old_copies == 1);  // not more often than twice a second
  CHECK(executor.refusals == 0);
  executor_wire.waiting.push_back({kAgent, late});
  REQUIRE(executor.pump(Instant{} + milliseconds(600)).ok());
  CHECK(executor.counters().old_copies == 2);
  REQUIRE(agent.pump(Instant{} + seconds(1)).ok());
  CHECK_FALSE(agent.outlived().has_value());
  CHECK(agent.counters().stale == 2);
}

TEST_CASE_FIXTURE(Pair, "nodes that cannot be told apart are not told, and clients end no node") {
  PlainNode executor(kExecutor, 1, 0, executor_wire, executor_journal);
  live(4, 1001, 360, executor);
  CHECK(comes_back(2, 1002, 230, executor).ok());  // waits for ever, as before
  CHECK_FALSE(obeyed);

  PlainNode agent(kAgent, 5, 1003, agent_wire, agent_journal);
  Codec codec;
  FrameHeader header{1, Incarnation{1}, 1};
  const auto say = [&](NodeId from, const Goodbye& goodbye) {
    const auto bytes = codec.encode(header, goodbye);
    agent_wire.waiting.push_back({from, {bytes.begin(), bytes.end()}});
    return agent.pump(Instant{}).ok();
  };
  CHECK(say(client_node(0), {"old", Incarnation{9}, 900, Incarnation{5}, 1003}));
  CHECK(say(kExecutor, {"old", Incarnation{9}, 900, Incarnation{5}, 1002}));  // of a twin
  CHECK(agent.got.empty());
  CHECK_FALSE(say(kExecutor, {"old", Incarnation{9}, 900, Incarnation{5}, 1003}));
}

}  // namespace
}  // namespace starling
