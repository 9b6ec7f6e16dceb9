// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "agents/quota/keeper.h"
#include "sim/check/healthy_world_test.h"

namespace starling {
namespace {

QueueTree tree_of(std::uint64_t version, std::uint32_t all, std::uint32_t leaf) {
  QueueTree tree;
  tree.version = version;
  tree.queues.resize(3);
  tree.queues[0].name = "a", tree.queues[0].most = all;
  tree.queues[1].name = "a/x", tree.queues[1].most = leaf;
  tree.queues[2].name = "a/y";
  return tree;
}

/// Beside a gang of two GPUs that names no queue.
struct Queues : HealthyWorld {
  void set(NodeId agent, QueueTree tree) { write(agent, QueuesSet{std::move(tree)}); }
  void set_all(const QueueTree& tree) {
    set(kA, tree);
    set(kB, tree);
  }
  AttemptId start(NodeId home, std::uint64_t id, const char* queue, const char* user = "") {
    JobAccepted accepted;
    accepted.submit.spec = spec_of({0, id});
    accepted.submit.spec.queue = queue;
    accepted.submit.spec.user = user;
    write(home, accepted);
    return again(home, id, 1);
  }
  AttemptId again(NodeId home, std::uint64_t id, std::uint64_t number) {
    const AttemptId attempt{{0, id}, Epoch{1}, number};
    const PartitionId own{home == kA ? 0U : 1U};
    write(home, AttemptStarting{attempt, {{own, gpus({home == kA ? 0U : 5U})}}});
    return attempt;
  }
  bool fine() {
    INFO(checker.violation().value_or(""));
    return !checker.violation().has_value();
  }
};

TEST_CASE("S25: a queue has more GPUs in use than it may") {
  Queues q;
  SUBCASE("of two homes") {
    q.set_all(tree_of(1, 8, 1));
    q.start(kA, 20, "a/x");
    REQUIRE(q.fine());
    q.start(kB, 21, "a/x");
    CHECK(q.caught("S25"));
  }
  SUBCASE("of one above it") {
    q.set_all(tree_of(1, 1, 8));
    q.start(kA, 20, "a/x");
    q.start(kB, 21, "a/y");
    CHECK(q.caught("S25"));
  }
  SUBCASE("of those that name none") {
    QueueTree tree = tree_of(1, 8, 2);
    tree.fallback = "a/x";
    q.set_all(tree);
    q.start(kB, 21, "a/x");
    CHECK(q.caught("S25"));
  }
  SUBCASE("of one that is being drained") {
    q.set_all(tree_of(1, 8, 1));
    q.write(kA, AttemptDraining{q.start(kA, 20, "a/x")});
    q.start(kB, 21, "a/x");
    CHECK(q.caught("S25"));
  }
  SUBCASE("of one user") {
    QueueTree tree = tree_of(1, 8, 8);
    tree.queues[2].most_per_user = 1;
    q.set_all(tree);
    q.start(kA, 20, "a/y", "ann");
    q.start(kB, 21, "a/y", "bob");
    REQUIRE(q.fine());
    q.start(kB, 22, "a/y", "ann");
    CHECK(q.caught("S25"));
  }
  SUBCASE("once the last agent goes by the lower limit") {
    q.set_all(tree_of(1, 8, 8));
    q.set_all(tree_of(2, 8, 1));
    q.start(kA, 20, "a/x");
    q.start(kB, 21, "a/x");
    CHECK(q.caught("S25"));
  }
}

TEST_CASE("S25: what a queue may have") {
  Queues q;
  SUBCASE("by no tree") {
    q.start(kA, 20, "a/x");
    q.start(kB, 21, "a/x");
  }
  SUBCASE("where one agent has no tree yet") {
    q.set(kA, tree_of(1, 1, 1));
    q.start(kA, 20, "a/x");
    q.start(kB, 21, "a/x");
  }
  SUBCASE("by the tree that one agent still goes by") {
    q.set_all(tree_of(1, 8, 8));
    q.set(kA, tree_of(2, 8, 1));
    q.start(kA, 20, "a/x");
    q.start(kB, 21, "a/x");
  }
  SUBCASE("once an attempt is over") {
    q.set_all(tree_of(1, 8, 1));
    q.write(kA, AttemptOver{q.start(kA, 20, "a/x"), Duration{0}});
    q.start(kB, 21, "a/x");
  }
  SUBCASE("in another queue") {
    q.set_all(tree_of(1, 8, 0));
    q.start(kB, 21, "a/y");
    q.start(kB, 22, "a/yy");  // there is none of that name
  }
  CHECK(q.fine());
}

TEST_CASE("S15: queues and portions do not go back") {
  Queues q;
  QuotaPortions portions{AgentId{1}, {Incarnation{1}, 2}, 1, {{{"a/x", ""}, 3}}};
  q.set(kA, tree_of(2, 8, 8));
  q.write(kA, portions);
  REQUIRE(q.fine());
  SUBCASE("an earlier tree") { q.set(kA, tree_of(1, 8, 8)); }
  SUBCASE("another tree of that version") { q.set(kA, tree_of(2, 8, 7)); }
  SUBCASE("an earlier ask") {
    portions.stamp.number = 1;
    q.write(kA, portions);
  }
  SUBCASE("less, and it has not asked anew") {
    portions.rows.clear();
    q.write(kA, portions);
  }
  CHECK(q.caught("S15"));
}

TEST_CASE("S15: a keeper's memory is its journal") {
  const QuotaPortions portions{AgentId{1}, {Incarnation{1}, 2}, 1, {{{"a/x", ""}, 3}}};
  Durable journal(AgentId{0});
  QuotaKeeper keeper(2, 8);
  CHECK(journal.apply(QueuesSet{tree_of(1, 8, 8)}) == "");
  CHECK(journal.apply(portions) == "");
  keeper.replay(QueuesSet{tree_of(1, 8, 8)});
  CHECK(journal.queues_differ(keeper.tree(), &keeper) != "");
  keeper.replay(portions);
  CHECK(journal.queues_differ(keeper.tree(), &keeper) == "");
  keeper.replay(QuotaPortions{AgentId{0}, {Incarnation{1}, 1}, 1, {{{"a/x", ""}, 2}}});
  CHECK(journal.queues_differ(keeper.tree(), &keeper) != "");
  CHECK(journal.queues_differ(tree_of(2, 8, 8), &keeper) != "");
  CHECK(journal.queues_differ(keeper.tree(), nullptr) != "");
}

TEST_CASE("S15: a snapshot has the queues and what homes may use of them") {
  const QuotaPortions portions{AgentId{1}, {Incarnation{1}, 2}, 1, {{{"a/x", ""}, 3}}};
  std::vector<Record> records = {LifeBegan{Incarnation{1}, Epoch{1}}, QueuesSet{tree_of(1, 8, 8)},
                                 portions};
  Durable journal(AgentId{0});
  for (const Record& record : records) REQUIRE(journal.apply(record) == "");
  SUBCASE("both") { CHECK(journal.compacted(records) == ""); }
  SUBCASE("the queues alone") {
    records.pop_back();
    CHECK(journal.compacted(records) != "");
  }
  SUBCASE("portions alone") {
    records.erase(records.begin() + 1);
    CHECK(journal.compacted(records) != "");
  }
}

TEST_CASE("S25: another fallback moves no job from one queue to another") {
  Queues q;
  QueueTree tree = tree_of(1, 8, 1);
  tree.fallback = "a/y";
  q.set_all(tree);
  tree.version = 2, tree.fallback = "a/x";
  q.set_all(tree);
  q.start(kA, 20, "a/x");
  CHECK(q.fine());  // the gang that names none has been in a/y since
}

}  // namespace
}  // namespace starling
