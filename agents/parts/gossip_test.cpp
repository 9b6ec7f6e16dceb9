// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/gossip.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace starling {
namespace {

using Agents = std::vector<AgentId>;

constexpr auto kAllListen = [](AgentId) { return true; };
Agents agents(const std::vector<std::uint32_t>& numbers) {
  Agents out;
  for (const std::uint32_t n : numbers) out.push_back(AgentId{n});
  return out;
}
constexpr AgentId kMe{0};

TEST_CASE("those 1, 2, 4, ... after an agent are told in turn, around the flock") {
  Gossip gossip(AgentId{10}, 12);
  CHECK(gossip.next(false, kAllListen) == agents({11, 0, 2}));
  CHECK(gossip.next(false, kAllListen) == agents({6, 11, 0}));
  CHECK(gossip.next(false, kAllListen) == agents({2, 6, 11}));
}

TEST_CASE("a small flock is told once, and an agent alone tells no other") {
  Gossip two(kMe, 2), three(kMe, 3), alone(kMe, 1);
  CHECK(two.next(false, kAllListen) == agents({1}));
  CHECK(three.next(false, kAllListen) == agents({1, 2}));
  CHECK(alone.next(true, kAllListen).empty());
}

TEST_CASE("an agent that cannot be heard is passed over for the next after it") {
  Gossip gossip(kMe, 9);
  const auto listens = [](AgentId a) { return a != AgentId{1} && a != AgentId{4}; };
  CHECK(gossip.next(false, listens) == agents({2, 5, 8}));
  const auto none = [](AgentId) { return false; };
  CHECK(gossip.next(false, none).empty());
}

TEST_CASE("told is what was learned since, the latest first, but not to the agent that said it") {
  Gossip gossip(kMe, 16);
  gossip.learn(AgentId{3}, AgentId{3}, false);
  gossip.learn(AgentId{5}, AgentId{7}, false);
  gossip.learn(kMe, kMe, false);
  CHECK(gossip.words_for(AgentId{1}) == agents({0, 5, 3}));
  CHECK(gossip.words_for(AgentId{1}).empty());
  gossip.learn(AgentId{3}, AgentId{3}, false);
  CHECK(gossip.words_for(AgentId{1}) == agents({3}));
  CHECK(gossip.words_for(AgentId{7}) == agents({3, 0}));
  gossip.forget(AgentId{1});
  CHECK(gossip.words_for(AgentId{1}) == agents({3, 0, 5}));
}

TEST_CASE("one message has the latest words, and those before them are not made up for") {
  Gossip gossip(kMe, 100);
  for (std::uint32_t a = 1; a < 100; ++a) gossip.learn(AgentId{a}, AgentId{a}, false);
  const Agents told = gossip.words_for(AgentId{1});
  REQUIRE(told.size() == Gossip::kMostWords);
  CHECK(told.front() == AgentId{99});
  CHECK(told.back() == AgentId{100 - Gossip::kMostWords});
  CHECK(gossip.words_for(AgentId{1}).empty());
}

TEST_CASE("where there is room some of the agents with waiting jobs are told first, in turn") {
  Gossip gossip(kMe, 64);
  for (const std::uint32_t a : {20U, 30U, 40U}) gossip.learn(AgentId{a}, AgentId{a}, true);
  gossip.learn(kMe, kMe, true);
  CHECK(gossip.next(true, kAllListen) == agents({20, 30, 1}));
  CHECK(gossip.next(true, kAllListen) == agents({40, 20, 2}));
  CHECK(gossip.next(false, kAllListen) == agents({4, 8, 16}));
  gossip.learn(AgentId{20}, AgentId{20}, false);
  const auto listens = [](AgentId a) { return a != AgentId{40}; };
  CHECK(gossip.next(true, listens) == agents({30, 32, 1}));
}

TEST_CASE("there are news until an agent was told, and one's own word is unheard until then") {
  Gossip gossip(kMe, 9);
  CHECK_FALSE(gossip.has_news());
  gossip.learn(AgentId{3}, AgentId{3}, false);
  CHECK(gossip.has_news());
  CHECK_FALSE(gossip.is_unheard());
  gossip.learn(kMe, kMe, false);
  CHECK(gossip.is_unheard());
  (void)gossip.next(false, [](AgentId) { return false; });
  CHECK(gossip.is_unheard());
  (void)gossip.next(false, kAllListen);
  CHECK_FALSE(gossip.is_unheard());
  CHECK_FALSE(gossip.has_news());
}

/// Rounds in which all tell in step until all know a word of each, where those do not listen.
int rounds_until_all_know(std::uint32_t flock, const std::set<std::uint32_t>& deaf) {
  std::vector<Gossip> all;
  std::vector<std::set<std::uint32_t>> known(flock);
  for (std::uint32_t a = 0; a < flock; ++a) {
    all.emplace_back(AgentId{a}, flock);
    if (deaf.contains(a)) continue;
    all[a].learn(AgentId{a}, AgentId{a}, false);
    known[a].insert(a);
  }
  const std::size_t living = flock - deaf.size();
  const auto listens = [&](AgentId a) { return !deaf.contains(a.value); };
  for (int round = 1; round <= 100; ++round) {
    struct Told {
      std::uint32_t from, to;
      Agents words;
    };
    std::vector<Told> told;
    for (std::uint32_t a = 0; a < flock; ++a) {
      if (deaf.contains(a)) continue;
      for (const AgentId to : Agents(all[a].next(false, listens)))
        told.push_back({a, to.value, all[a].words_for(to)});
    }
    for (const Told& t : told) {
      for (const AgentId of : t.words) {
        if (known[t.to].insert(of.value).second) all[t.to].learn(of, AgentId{t.from}, false);
      }
    }
    bool done = true;
    for (std::uint32_t a = 0; a < flock; ++a)
      done = done && (deaf.contains(a) || known[a].size() == living);
    if (done) return round;
  }
  return -1;
}

TEST_CASE("every agent knows everything after some rounds, with the dead passed over") {
  CHECK(rounds_until_all_know(9, {}) <= 3);
  CHECK(rounds_until_all_know(16, {}) <= 4);
  CHECK(rounds_until_all_know(31, {}) <= 5);
  const int some_dead = rounds_until_all_know(31, {1, 2, 3, 4, 5, 6, 7, 15, 16});
  CHECK(some_dead > 0);
  CHECK(some_dead <= 8);
}

}  // namespace
}  // namespace starling
