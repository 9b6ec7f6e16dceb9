// SPDX-License-Identifier: Apache-2.0
// A home's word that it wants an attempt: from when it counts, and what its owner says on.
#include <doctest/doctest.h>

#include "agents/owner/scripted_owner_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// A second life of an owner, whose executor runs what the first one started.
struct NextLife : ScriptedOwner {
  NextLife() : ScriptedOwner({.reconciled = false, .lossy = true, .journal = first_life()}) {
    hear(kExecutor, Inventory{kFence, {item(gpus)}});
    word_at_once = said<AttemptAnswer>() != nullptr;
    for (int i = 0; i < 30 && said<AttemptQuery>() == nullptr; ++i) wait();
    REQUIRE(said<AttemptQuery>() != nullptr);
    asked_at = now;
  }
  static std::vector<Record> first_life() {
    ScriptedOwner owner({.lossy = true});
    owner.start(owner.gpus);
    return owner.journal;
  }
  /// Its executor is heard.
  void wait() {
    hear(kExecutor, Ping{1});
    pass(500ms);
  }
  bool word_at_once = false;
  Instant asked_at;
};

TEST_CASE("a home's word is said on once it is of this life, and as old as the question") {
  NextLife owner;
  CHECK_FALSE(owner.word_at_once);
  const std::uint64_t token = owner.said<AttemptQuery>()->token;
  owner.wait();
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::live, token});
  REQUIRE(owner.said<AttemptAnswer>() != nullptr);
  CHECK(owner.said<AttemptAnswer>()->life == AttemptLife::live);
  CHECK(owner.said<AttemptAnswer>()->age == owner.now - owner.asked_at);
  CHECK(owner.share().confirmed_at == owner.asked_at);
  const Duration lasts = owner.agent->config().timers.reconfirm;
  CHECK(owner.share().timer == later(owner.now, lasts));
  for (int i = 0; i < 30 && owner.said<AttemptQuery>() == nullptr; ++i) owner.wait();
  CHECK(owner.said<AttemptQuery>() != nullptr);  // and asked for again
}

TEST_CASE("a home's word is said on to executors that know what to do with it") {
  for (const std::uint16_t protocol : {std::uint16_t{1}, std::uint16_t{2}}) {
    CAPTURE(protocol);
    NextLife owner;
    const std::uint64_t token = owner.said<AttemptQuery>()->token;
    owner.agent->step(owner.now, Received{owner.kExecutor, Ping{1}, protocol}, owner.out);
    owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::live, token});
    CHECK((owner.said<AttemptAnswer>() != nullptr) == (protocol == 2));
  }
}

TEST_CASE("an answer to a question that was not put, or is answered already, counts for nothing") {
  NextLife owner;
  const std::uint64_t token = owner.said<AttemptQuery>()->token;
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::live, token + 1});
  CHECK(owner.said<AttemptAnswer>() == nullptr);
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::live, token});
  CHECK(owner.said<AttemptAnswer>() != nullptr);
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::live, token});
  CHECK(owner.said<AttemptAnswer>() == nullptr);
}

TEST_CASE("while a home is silent its last word is said again, as it may have been lost") {
  NextLife owner;
  const std::uint64_t token = owner.said<AttemptQuery>()->token;
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::live, token});
  const auto ask = [&] {
    for (int i = 0; i < 30; ++i) {
      owner.wait();
      if (owner.said<AttemptQuery>() != nullptr) return;
    }
  };
  ask();
  CHECK(owner.said<AttemptAnswer>() == nullptr);  // the home has not been silent yet
  ask();
  REQUIRE(owner.said<AttemptAnswer>() != nullptr);
  CHECK(owner.said<AttemptAnswer>()->age == owner.now - owner.asked_at);
}

TEST_CASE("a new life of an executor is told a home's word with its inventory") {
  NextLife owner;
  const std::uint64_t token = owner.said<AttemptQuery>()->token;
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::live, token});
  owner.wait();
  CHECK(owner.said<AttemptAnswer>() == nullptr);
  owner.hear(owner.kExecutor, Hello{Role::executor, 1, kNewestProtocol, {}});
  owner.hear(owner.kExecutor, Inventory{owner.kFence, {owner.item(owner.gpus)}});
  REQUIRE(owner.said<AttemptAnswer>() != nullptr);
  CHECK(owner.said<AttemptAnswer>()->age == owner.now - owner.asked_at);
}

TEST_CASE("a home that gives no token back answers the oldest question") {
  NextLife owner;
  const Instant first = owner.asked_at;
  owner.wait();
  for (int i = 0; i < 30 && owner.said<AttemptQuery>() == nullptr; ++i) owner.wait();
  REQUIRE(owner.share().asked.size() == 2);
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::live, 0});
  CHECK(owner.share().confirmed_at == first);
  CHECK(owner.share().asked.size() == 1);
}

}  // namespace
}  // namespace starling
