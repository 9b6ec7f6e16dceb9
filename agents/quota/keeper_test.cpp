// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "agents/quota/kept_queues_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a tree is taken if it makes sense and is the next, and known when homes say so") {
  QuotaKeeper keeper(2, 16);
  QueueTree tree;
  tree.version = 2;
  tree.queues = {row_of("a")};
  bool changed = true;
  CHECK(keeper.set(tree, changed).find("do not follow those in force (0)") != std::string::npos);
  CHECK_FALSE(changed);
  tree.version = 1;
  CHECK(keeper.unaware().empty());
  CHECK(keeper.set(tree, changed).empty());
  CHECK(changed);
  CHECK(keeper.set(tree, changed).empty());
  CHECK_FALSE(changed);
  CHECK(keeper.unaware() == Agents{AgentId{0}, AgentId{1}});
  CHECK(keeper.heard(AgentId{1}, {{Incarnation{1}, 1}, 1, {}}, {}));
  CHECK(keeper.unaware() == Agents{AgentId{0}});
  tree.version = 2, tree.queues[0].weight = 0;
  CHECK_FALSE(keeper.set(tree, changed).empty());
  CHECK(keeper.tree().version == 1);
}

TEST_CASE("of a queue nothing is given before each home has asked under a tree that has it") {
  KeptQueues k({row_of("a")});
  k.set({row_of("a"), row_of("b")});
  k.ask(0, {want_of("a", 0, 2), want_of("b", 0, 2)});
  CHECK(k.share() == Agents{AgentId{0}});
  CHECK(k.may(0, "a") == 2);
  CHECK(k.may(0, "b") == 0);
  k.ask(1, {});
  CHECK(k.share() == Agents{AgentId{0}, AgentId{1}});
  CHECK(k.may(0, "b") == 2);
}

TEST_CASE("a queue that begins to limit users waits for all homes, too") {
  KeptQueues k({row_of("a")});
  QueueSpec limited = row_of("a");
  limited.most_per_user = 3;
  k.set({limited});
  const QuotaWant ada{{"a", "ada"}, 0, 0, 2, 2, 0, {}};
  k.ask(0, {ada});
  (void)k.share();
  CHECK(k.may(0, "a", "ada") == 0);
  k.ask(1, {{{"a", "ada"}, 2, 2, 0, 0, 0, {}}});
  (void)k.share();
  CHECK(k.may(0, "a", "ada") == 0);  // 2 of 3 are hers elsewhere
  CHECK(k.keeper.grant_for(AgentId{0}).rows[0].bound == "a");
  k.ask(1, {});
  (void)k.share();
  CHECK(k.may(0, "a", "ada") == 2);
}

TEST_CASE("an older ask changes nothing; one that is repeated is answered, and lowers nothing") {
  KeptQueues k({row_of("a")});
  const QuotaAsk old = k.ask(0, {want_of("a", 0, 0)});
  const QuotaAsk ask = k.ask(0, {want_of("a", 1, 3)});
  CHECK(k.share() == Agents{AgentId{0}});
  CHECK(k.may(0, "a") == 4);
  CHECK_FALSE(k.keeper.heard(AgentId{0}, old, k.now));
  CHECK(k.share().empty());
  CHECK(k.keeper.heard(AgentId{0}, ask, k.now));
  CHECK(k.share() == Agents{AgentId{0}});
  CHECK(k.may(0, "a") == 4);
  CHECK(k.keeper.heard(AgentId{0}, {ask.stamp, ask.tree, {}}, k.now));
  CHECK(k.may(0, "a") == 4);
  CHECK_FALSE(k.keeper.heard(AgentId{9}, ask, k.now));
}

TEST_CASE(
    "of an ask under an earlier tree only what is kept counts, and it is answered under that") {
  KeptQueues k({row_of("a")});
  k.set({row_of("a", 0, 8)});
  const QuotaAsk ask{{Incarnation{1}, ++k.numbers[0]}, 1, {want_of("a", 2, 3)}};
  CHECK(k.keeper.heard(AgentId{0}, ask, k.now));
  CHECK(k.share() == Agents{AgentId{0}});
  CHECK(k.may(0, "a") == 2);
  CHECK(k.keeper.grant_for(AgentId{0}).tree == 1);
  CHECK(k.keeper.unaware() == Agents{AgentId{0}, AgentId{1}});
}

TEST_CASE("its records make a keeper that has given the same, and goes on") {
  KeptQueues k({row_of("a", 0, 8)});
  const QuotaAsk ask = k.ask(0, {want_of("a", 2, 8, 3)});
  (void)k.share();
  CHECK(k.may(0, "a") == 8);
  k.set({row_of("a", 0, 8), row_of("b")});
  k.ask(1, {want_of("b", 0, 1)});
  (void)k.share();
  QuotaKeeper next = k.again();
  CHECK(next.tree() == k.keeper.tree());
  CHECK(next.unaware() == Agents{AgentId{0}});
  CHECK(next.portions_of(AgentId{0}).rows == k.keeper.portions_of(AgentId{0}).rows);
  // Of `b` it still knows that a home has not spoken; of `a` that both have.
  QuotaAsk more{{Incarnation{1}, ++k.numbers[1]}, 2, {want_of("a", 0, 9), want_of("b", 0, 1)}};
  CHECK(next.heard(AgentId{1}, more, k.now));
  more = {{Incarnation{1}, ask.stamp.number}, 1, {want_of("a", 2, 0)}};
  CHECK(next.heard(AgentId{0}, more, k.now));
  CHECK(next.portions_of(AgentId{0}).rows.at(0).may == 8);
  more.stamp.number += 1;
  CHECK(next.heard(AgentId{0}, more, k.now));
  (void)next.share_out(k.now);
  REQUIRE(next.portions_of(AgentId{1}).rows.size() == 1);
  CHECK(next.portions_of(AgentId{1}).rows[0] == QuotaPortions::Row{{"a", ""}, 6});
}

TEST_CASE("a home is told that others wait for what it has, and again until it asks") {
  KeptQueues k({row_of("a", 0, 8)});
  k.ask(0, {want_of("a", 8, 0)});
  (void)k.share();
  CHECK_FALSE(k.row(0, "a").scarce);
  k.ask(1, {want_of("a", 0, 2)});
  CHECK(k.share() == Agents{AgentId{0}, AgentId{1}});
  CHECK(k.row(0, "a").scarce);
  CHECK(k.share().empty());
  k.now += QuotaKeeper::kTellAgain;
  CHECK(k.share() == Agents{AgentId{0}});
  k.ask(0, {want_of("a", 8, 0)});
  CHECK(k.share() == Agents{AgentId{0}});
  CHECK(k.row(0, "a").scarce);
  k.now += QuotaKeeper::kTellAgain;
  CHECK(k.share().empty());
}

TEST_CASE("what a home itself wants more of is not scarce to it, unless there is too much") {
  KeptQueues k({row_of("a", 0, 8)});
  k.ask(0, {want_of("a", 8, 4)});
  (void)k.share();
  CHECK_FALSE(k.row(0, "a").scarce);
  k.set({row_of("a", 0, 6)});
  k.ask(1, {});
  k.ask(0, {want_of("a", 8, 4)});
  (void)k.share();
  CHECK(k.row(0, "a").scarce);
  CHECK(k.row(0, "a").over);
  CHECK(k.may(0, "a") == 8);
}

TEST_CASE(
    "where others wait there is not too much in use; where a home was not heard there may be") {
  KeptQueues k({row_of("a", 0, 8)});
  k.ask(0, {want_of("a", 8, 0)});
  k.ask(1, {want_of("a", 0, 2)});
  (void)k.share();
  CHECK(k.row(0, "a").scarce);
  CHECK_FALSE(k.row(0, "a").over);
  k.set({row_of("a", 0, 8), row_of("b", 0, 4)});
  k.ask(0, {want_of("a", 4, 0), want_of("b", 4, 0)});
  (void)k.share();
  CHECK_FALSE(k.row(0, "a").over);
  CHECK(k.row(0, "b").over);
  k.ask(1, {want_of("b", 1, 0)});
  k.ask(0, {want_of("a", 4, 0), want_of("b", 4, 0)});
  (void)k.share();
  CHECK(k.row(0, "b").over);
  k.ask(1, {});
  CHECK(k.share() == Agents{AgentId{1}});
  k.ask(0, {want_of("a", 4, 0), want_of("b", 4, 0)});
  (void)k.share();
  CHECK_FALSE(k.row(0, "b").over);
}

TEST_CASE("a home that has more than was known is counted with that") {
  KeptQueues k({row_of("a", 0, 8)});
  k.ask(0, {want_of("a", 12, 1)});
  k.ask(1, {want_of("a", 0, 1)});
  (void)k.share();
  CHECK(k.may(0, "a") == 12);
  CHECK(k.may(1, "a") == 0);
  k.ask(0, {want_of("a", 7, 0)});
  (void)k.share();
  CHECK(k.may(1, "a") == 1);
}

TEST_CASE("jobs of a queue that is gone count in the nearest above it that there is") {
  KeptQueues k({row_of("t"), row_of("t/a")});
  k.ask(0, {want_of("t/a", 5, 0)});
  (void)k.share();
  k.set({row_of("t", 0, 8)});
  k.ask(0, {want_of("t/a", 5, 3)});
  k.ask(1, {want_of("t", 0, 9)});
  (void)k.share();
  CHECK(k.may(0, "t/a") == 5);
  CHECK(k.may(1, "t") == 3);
  const std::vector<QueueUse> uses = k.keeper.uses();
  REQUIRE(uses.size() == 1);
  CHECK(uses[0] == QueueUse{{"t", ""}, 8, 5, 6});
}

TEST_CASE("what a home wants is forgotten when it is not heard any more") {
  KeptQueues k({row_of("a", 0, 8)});
  k.ask(0, {want_of("a", 8, 0)});
  k.ask(1, {want_of("a", 0, 8)});
  (void)k.share();
  CHECK(k.keeper.goes_on());
  k.now += QuotaKeeper::kWantLasts;
  k.ask(0, {});
  (void)k.share();
  CHECK(k.may(1, "a") == 0);
}

TEST_CASE("queues are told with those below them, and users where they are limited") {
  std::vector<QueueSpec> queues = {row_of("t"), row_of("t/a"), row_of("t/b")};
  queues[1].most_per_user = 4;
  KeptQueues k(queues);
  k.ask(0, {{{"t/a", "ada"}, 2, 1, 0, 0, 0, {}}, {{"t/b", ""}, 3, 3, 0, 0, 0, {}}});
  k.ask(1, {{{"t/a", "ada"}, 1, 1, 9, 9, 0, {}}});
  (void)k.share();
  CHECK(k.keeper.uses() == std::vector<QueueUse>{{{"t", ""}, 6, 5, 9},
                                                 {{"t/a", ""}, 3, 2, 9},
                                                 {{"t/a", "ada"}, 3, 2, 9},
                                                 {{"t/b", ""}, 3, 3, 0}});
}

TEST_CASE("a keeper that has lost its tree takes whatever is above all that homes say") {
  QuotaKeeper keeper(2, 16);
  const auto ask = [&](std::uint32_t home, std::uint64_t number, std::uint64_t version) {
    return keeper.heard(AgentId{home}, {{Incarnation{3}, number}, version, {want_of("a", 2, 3, 3)}},
                        {});
  };
  REQUIRE(ask(1, 1, 5));
  (void)keeper.share_out({});
  CHECK(keeper.newest() == 5);
  CHECK(keeper.unaware() == Agents{AgentId{1}});
  QueueTree tree;
  tree.queues = {row_of("a", 0, 8)};
  bool changed = false;
  for (const std::uint64_t version : {1U, 5U}) {
    tree.version = version;
    CHECK(keeper.set(tree, changed).find("give 6") != std::string::npos);
  }
  tree.version = 9;
  CHECK(keeper.set(tree, changed) == "");
  CHECK(changed);
  CHECK(keeper.set(tree, changed) == "");
  CHECK_FALSE(changed);
  REQUIRE(ask(0, 1, 9));
  REQUIRE(ask(1, 2, 9));
  CHECK(keeper.unaware().empty());
  (void)keeper.share_out({});
  CHECK(keeper.uses()[0].may == 7);  // 2 and 2 in use, and one of the wishes for 3
}

TEST_CASE("a home is told the tree in each life of it and of the keeper, until it asks anew") {
  KeptQueues k({row_of("a")});
  CHECK(k.keeper.to_tell().empty());
  k.keeper.doubt(AgentId{1});
  CHECK(k.keeper.to_tell() == Agents{AgentId{1}});
  CHECK(k.keeper.unaware().empty());
  CHECK(k.keeper.heard(AgentId{1}, {{Incarnation{1}, k.numbers[1]}, 1, {}}, k.now));  // a repeat
  CHECK(k.keeper.to_tell() == Agents{AgentId{1}});
  k.ask(1, {});
  CHECK(k.keeper.to_tell().empty());
  CHECK(k.again().to_tell() == Agents{AgentId{0}, AgentId{1}});
}

TEST_CASE("an ask is answered and given nothing while others are to speak first") {
  KeptQueues k({row_of("a")});
  k.keeper = k.again();
  CHECK_FALSE(k.keeper.has_said(AgentId{0}));
  k.ask(0, {want_of("a", 0, 2)});
  CHECK(k.keeper.has_said(AgentId{0}));
  CHECK_FALSE(k.keeper.has_said(AgentId{1}));
  CHECK(k.keeper.share_out(k.now, false) == Agents{AgentId{0}});
  CHECK(k.may(0, "a") == 0);
  k.now += 2s;
  CHECK(k.share() == Agents{AgentId{0}});
  CHECK(k.may(0, "a") == 2);
}

}  // namespace
}  // namespace starling
