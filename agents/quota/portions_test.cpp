// SPDX-License-Identifier: Apache-2.0
#include "agents/quota/portions.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

const QuotaAccount kLab{"lab", ""}, kOpen{"open", ""};

QueueTree two_queues(std::uint64_t version = 1) {
  QueueTree tree;
  tree.version = version;
  tree.queues.resize(2);
  tree.queues[0].name = "lab", tree.queues[1].name = "open";
  tree.queues[0].most = 8;
  return tree;
}

QuotaGrant grant_to(const QuotaAsk& ask, std::uint32_t lab, bool scarce = false,
                    bool over = false) {
  return {ask.stamp, ask.tree, {{kLab, lab, "", scarce, over}}};
}

/// One with two queues, of which 4 GPUs of `lab` are used and the keeper knows it.
struct ToldHome {
  ToldHome() {
    portions.run(kLab, 4);
    portions.set_tree(two_queues());
    const QuotaAsk ask = portions.ask({});
    portions.heed(grant_to(ask, 4));
  }
  QuotaAsk ask_for(std::uint32_t gpus, std::int32_t priority = 0) {
    return portions.ask({{kLab, {gpus, priority, Duration(5)}}});
  }
  Portions portions{Incarnation{7}};
};

TEST_CASE("without queues nothing is limited, and nothing is said") {
  Portions portions(Incarnation{1});
  CHECK_FALSE(portions.limits());
  CHECK(portions.may_wait(kLab, 100));
  CHECK(portions.may_start(kLab, 100));
  CHECK_FALSE(portions.has_to_ask());
  CHECK(portions.set_tree(two_queues()));
  CHECK_FALSE(portions.may_start(kLab, 1));
  QueueTree none;
  none.version = 2;
  CHECK(portions.set_tree(none));
  CHECK(portions.may_start(kLab, 100));
  CHECK(portions.has_to_ask());  // that it knows it
  CHECK_FALSE(portions.set_tree(two_queues(2)));
}

TEST_CASE("under a new tree a home may have what it uses, and says so until it is answered") {
  Portions portions(Incarnation{7});
  portions.run(kLab, 4);
  REQUIRE(portions.set_tree(two_queues()));
  CHECK(portions.accounts().at(kLab).may == 4);
  CHECK(portions.has_to_ask());
  const QuotaAsk ask = portions.ask({});
  CHECK(ask.stamp == QuotaStamp{Incarnation{7}, 1});
  CHECK(ask.tree == 1);
  REQUIRE(ask.rows.size() == 1);
  CHECK(ask.rows[0].keep == 4);
  CHECK(ask.rows[0].want == 0);
  CHECK(portions.has_to_ask());
  portions.heed(grant_to(ask, 4));
  CHECK_FALSE(portions.has_to_ask());
}

TEST_CASE("jobs beyond the portion are asked for once, by the first of them, and again at times") {
  ToldHome t;
  CHECK_FALSE(t.portions.may_wait(kLab, 1));
  CHECK_FALSE(t.portions.keeps_back());
  t.portions.keep_back(kLab, 2);
  t.portions.keep_back(kLab, 3);
  CHECK(t.portions.keeps_back());
  REQUIRE(t.portions.has_to_ask());
  const QuotaAsk ask = t.ask_for(2, 9);
  REQUIRE(ask.rows.size() == 1);
  CHECK(ask.rows[0].want == 5);
  CHECK(ask.rows[0].first == 2);
  CHECK(ask.rows[0].priority == 9);
  CHECK(ask.rows[0].waited == Duration(5));
  CHECK(t.portions.heed(grant_to(ask, 6)) == std::vector{kLab});
  t.portions.keep_back_no_more(kLab, 2);
  t.portions.let(kLab, 2);
  CHECK_FALSE(t.portions.has_to_ask());
  t.portions.keep_back(kLab, 1);
  CHECK(t.portions.has_to_ask());
}

TEST_CASE(
    "a job that stops to wait keeps its room though others wait, but where too much is in use") {
  ToldHome t;
  t.portions.heed(grant_to(t.ask_for(0), 4, true));
  t.portions.run_no_more(kLab, 3, true);
  CHECK(t.portions.accounts().at(kLab).may == 4);
  t.portions.run(kLab, 3);
  t.portions.run_no_more(kLab, 1);  // it has ended
  CHECK(t.portions.accounts().at(kLab).may == 3);
  t.portions.heed(grant_to(t.ask_for(0), 3, true, true));
  t.portions.run_no_more(kLab, 3, true);
  CHECK(t.portions.accounts().at(kLab).may == 0);
}

TEST_CASE("a grant counts with the newest stamp and the tree that is known, and only rises") {
  ToldHome t;
  t.portions.keep_back(kLab, 4);
  const QuotaAsk old = t.ask_for(4), ask = t.ask_for(4);
  CHECK(t.portions.heed(grant_to(old, 8)).empty());
  QuotaGrant other = grant_to(ask, 8);
  other.tree = 2;
  CHECK(t.portions.heed(other).empty());
  CHECK(t.portions.has_to_ask());
  CHECK_FALSE(t.portions.heed(grant_to(ask, 8)).empty());
  CHECK(t.portions.heed(grant_to(ask, 4)).empty());
  CHECK(t.portions.accounts().at(kLab).may == 8);
  CHECK_FALSE(t.portions.has_to_ask());
}

TEST_CASE("with an ask a home keeps what it uses and what is up for decision, within its portion") {
  ToldHome t;
  t.portions.keep_back(kLab, 4);
  t.portions.heed(grant_to(t.ask_for(4), 8));
  t.portions.keep_back_no_more(kLab, 4);
  t.portions.let(kLab, 1);
  CHECK(t.ask_for(0).rows[0].keep == 5);
  CHECK(t.portions.accounts().at(kLab).may == 5);
  t.portions.let(kLab, 6);  // more than it may
  const QuotaAsk ask = t.ask_for(6);
  CHECK(ask.rows[0].keep == 5);
  CHECK(ask.rows[0].want == 6);
}

TEST_CASE("an attempt starts within the portion, a resized one with what it has counted once") {
  ToldHome t;
  CHECK_FALSE(t.portions.may_start(kLab, 1));
  CHECK(t.portions.may_start(kLab, 4, 4));
  CHECK_FALSE(t.portions.may_start(kLab, 5, 4));
  CHECK_FALSE(t.portions.may_start(kOpen, 1));
  t.portions.run_no_more(kLab, 1);
  CHECK(t.portions.may_start(kLab, 1));
}

TEST_CASE("where others wait a home is to let nothing in that the keeper has not given it") {
  ToldHome t;
  t.portions.heed(grant_to(t.ask_for(0), 8, true));
  CHECK(t.portions.has_to_ask());
  t.portions.let(kLab, 4);
  CHECK(t.portions.recalled() == std::vector{kLab});
  t.portions.let_no_more(kLab, 4);
  t.portions.keep_back(kLab, 4);
  const QuotaAsk ask = t.ask_for(4);
  CHECK(ask.rows[0].keep == 4);
  CHECK(t.portions.recalled().empty());
  t.portions.heed(grant_to(ask, 4, true));
  CHECK_FALSE(t.portions.has_to_ask());  // told, and it has said what it needs
  t.portions.run_no_more(kLab, 3);
  CHECK_FALSE(t.portions.may_wait(kLab, 1));
  CHECK(t.portions.has_to_ask());
  // The keeper does not know yet what has come back, so that is no gift.
  CHECK_FALSE(t.portions.heed(grant_to(ask, 6, true)).empty());
  CHECK(t.portions.accounts().at(kLab).may == 3);
  CHECK(t.ask_for(4).rows[0].keep == 1);
}

TEST_CASE(
    "in a new life a home may have what runs, and gives back what ends, until it is answered") {
  Portions portions(Incarnation{8});
  portions.set_tree(two_queues());
  portions.run(kLab, 6);
  portions.begin();
  CHECK(portions.accounts().at(kLab).may == 6);
  portions.run_no_more(kLab, 2);
  CHECK_FALSE(portions.may_start(kLab, 1));
  CHECK(portions.has_to_ask());
  CHECK(portions.ask({}).rows[0].keep == 4);
}

TEST_CASE("an elastic job waits with as many workers as its queue can ever have") {
  ToldHome t;
  JobSpec spec;
  spec.queue = "lab", spec.workers = 6, spec.gpus_per_worker = 3;
  CHECK(t.portions.asked_by(spec) == 18);
  spec.min_workers = 1, spec.max_workers = 8;
  CHECK(t.portions.asked_by(spec) == 6);
  spec.min_workers = 3;
  CHECK(t.portions.asked_by(spec) == 18);
  spec.min_workers = 1, spec.workers = 2;
  CHECK(t.portions.asked_by(spec) == 6);
}

TEST_CASE("a life on an old copy goes on behind the stamps that the keeper has heard") {
  ToldHome home;
  CHECK_FALSE(home.portions.catch_up({Incarnation{7}, 1}));
  CHECK_FALSE(home.portions.catch_up({Incarnation{6}, 9}));
  CHECK_FALSE(home.portions.has_to_ask());
  CHECK(home.portions.catch_up({Incarnation{9}, 4}));
  CHECK(home.portions.has_to_ask());
  CHECK(home.portions.ask({}).stamp == QuotaStamp{Incarnation{9}, 5});
}

}  // namespace
}  // namespace starling
