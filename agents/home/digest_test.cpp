// SPDX-License-Identifier: Apache-2.0
// What an agent tells the others of its partition, when, and what it takes from them.
#include <doctest/doctest.h>

#include "agents/home/scripted_home_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

AgentConfig config(Duration heartbeat, Duration digest) {
  AgentConfig config;
  config.epoch = Epoch{7};
  config.timers.heartbeat = heartbeat;
  config.timers.digest = digest;
  return config;
}
AgentConfig quiet() { return config(Duration::max(), Duration::max()); }
/// Of agent 1, with one GPU free.
Digest digest(std::uint64_t version) {
  Digest digest;
  digest.fence = {PartitionId{1}, Epoch{1}};
  digest.version = version;
  digest.gpus = 4;
  digest.free = 1;
  return digest;
}

TEST_CASE("a digest says whose it is, and how much is free, in all and on one server") {
  ScriptedHome home(2, quiet());
  home.tick();
  const Digest* said = home.last<Digest>(agent_node(AgentId{1}));
  REQUIRE(said != nullptr);
  CHECK(said->fence == Fence{PartitionId{0}, Epoch{7}});
  CHECK(said->gpus == 4);
  CHECK(said->free == 4);
  CHECK(said->largest_free_server == 4);
  CHECK(said->whole_free_servers == 1);
  CHECK(said->out_of_service == 0);
}

TEST_CASE("that a hold has lapsed is told though no agent decides anything") {
  ScriptedHome home(2, quiet());
  const AttemptId attempt{JobId{0, 50}, Epoch{1}, 1};
  home.hear(AgentId{1}, Reserve{attempt, home.state().fence(), {GpuId{0}}, 1000});
  home.tick();
  CHECK(home.last<Digest>()->free == 3);
  home.tick(1s);
  CHECK(home.last<Digest>()->free == 4);
}

TEST_CASE(
    "that a job has been given away is told though nothing else has changed since a roll call") {
  AgentConfig calls = quiet();
  calls.roll_call = 10s;
  Submit earlier;
  earlier.spec.id = JobId{0, 1};
  ScriptedHome home(2, calls, std::vector<Record>{JobAccepted{earlier, 1}});
  home.tick();
  REQUIRE(home.last<Digest>() != nullptr);
  CHECK(home.last<Digest>()->waiting == 1);
  home.script->next.push_back(Forward{JobId{0, 1}, AgentId{1}});
  home.hear(AgentId{1}, Welcome{{PartitionId{1}, Epoch{1}}});
  home.tick();
  REQUIRE(home.job(1).stage() == Stage::offered);
  CHECK(home.last<Digest>()->waiting == 0);
}

TEST_CASE("an old word is said again when it is due, at that instant") {
  ScriptedHome home(2, config(Duration::max(), 1s));
  home.tick();
  const int said = home.count<Digest>(AgentId{1});
  const Instant due = home.state().flock.next_digest;
  REQUIRE(due > home.now);
  REQUIRE(due < kNever);
  home.tick(due - home.now - 1ns);
  CHECK(home.count<Digest>(AgentId{1}) == said);
  home.tick(1ns);
  CHECK(home.count<Digest>(AgentId{1}) == said + 1);
}

TEST_CASE("an agent that has told something knows when to say it again") {
  ScriptedHome home(2, config(Duration::max(), 1s));
  REQUIRE(home.last<Digest>() != nullptr);
  CHECK(home.state().flock.next_digest > home.now);
  CHECK(home.state().flock.next_digest < kNever);
}

TEST_CASE("a digest of another partition than its sender's is refused") {
  ScriptedHome home(3, quiet());
  home.hear(AgentId{2}, digest(1));
  CHECK(home.state().counters.refused_frames == 1);
  CHECK_FALSE(home.state().flock.peers[1].digest);
  CHECK_FALSE(home.state().flock.peers[2].digest);
  home.hear(AgentId{1}, digest(1));
  CHECK(home.state().flock.peers[1].digest->free == 1);
}

TEST_CASE("a digest asks for a decision where it says something new and a job waits") {
  ScriptedHome home(2, quiet());
  home.submit(1, 4);
  home.hear(AgentId{1}, digest(1));
  home.tick();
  CHECK(home.state().deciding.decided);
  home.hear(AgentId{1}, digest(2));
  home.tick();
  CHECK_FALSE(home.state().deciding.decided);
  Digest more = digest(3);
  more.free = 2;
  home.hear(AgentId{1}, more);
  home.tick();
  CHECK(home.state().deciding.decided);
  CHECK(home.script->seen.why == TriggerKind::digest);
  home.hear(AgentId{1}, digest(2));  // overtaken
  CHECK(home.state().flock.peers[1].digest->free == 2);
}

TEST_CASE("a price is told as the policy says it, and said anew once it has moved by a quarter") {
  ScriptedHome home(2, quiet());
  const GpuTypeId type = home.topology.server(ServerId{0}).gpu_type;
  home.script->costs = {{type, 1}};
  home.submit(1, 4);
  home.tick();
  REQUIRE(home.last<Digest>() != nullptr);
  CHECK(home.last<Digest>()->prices == home.script->costs);
  const int said = home.count<Digest>(AgentId{1});
  home.script->costs = {{type, 1.2F}};
  home.ask_policy();
  CHECK(home.count<Digest>(AgentId{1}) == said);
  home.script->costs = {{type, 1.5F}};
  home.ask_policy();
  CHECK(home.count<Digest>(AgentId{1}) == said + 1);
  CHECK(home.last<Digest>()->prices == home.script->costs);
  SUBCASE("where there are no jobs nothing is wanted") {
    home.hear(client_node(0), Cancel{JobId{0, 1}});
    home.tick();
    CHECK(home.last<Digest>()->prices == std::vector<TypePrice>{{type, 0}});
  }
}

TEST_CASE("news of a price asks for a decision where a job waits") {
  ScriptedHome home(2, quiet());
  home.submit(1, 4);
  Digest first = digest(1);
  first.prices = {{GpuTypeId{0}, 1}};
  home.hear(AgentId{1}, first);
  home.tick();
  Digest second = first;
  second.version = 2;
  second.prices = {{GpuTypeId{0}, 1.1F}};
  home.hear(AgentId{1}, second);
  home.tick();
  CHECK_FALSE(home.state().deciding.decided);
  second.version = 3;
  second.prices = {{GpuTypeId{0}, 3}};
  home.hear(AgentId{1}, second);
  home.tick();
  CHECK(home.state().deciding.decided);
}

// --- A flock that is too large for everybody to tell everybody -----------------------------------
AgentConfig gossiping(AgentConfig config) {
  config.flood_most = 2;
  return config;
}
Digests::Word word(std::uint32_t of, std::uint64_t version, std::uint32_t free,
                   std::uint32_t age_ms = 0) {
  Digest said = digest(version);
  said.fence.partition = PartitionId{of};
  said.free = free;
  return {said, age_ms};
}
/// Agents 1 to 5, which speak `protocol`, have said that they are there.
struct LargeFlock : ScriptedHome {
  explicit LargeFlock(AgentConfig config, std::uint16_t protocol = kNewestProtocol)
      : ScriptedHome(6, gossiping(std::move(config))) {
    for (std::uint32_t a = 1; a < 6; ++a)
      hear(AgentId{a}, Welcome{{PartitionId{a}, Epoch{1}}}, protocol);
    tick();
  }
  void hear(AgentId from, Message message, std::uint16_t protocol = kNewestProtocol) {
    ScriptedHome::hear(from, std::move(message), protocol);
  }
};
void occupy(LargeFlock& home, std::uint64_t job) {
  home.hear(AgentId{1},
            Reserve{{JobId{0, job}, Epoch{1}, 1}, home.state().fence(), {GpuId{0}}, 1000});
}

TEST_CASE("a change is told to a few in a large flock, with what was heard meanwhile") {
  LargeFlock home(quiet());
  home.sent.clear();
  home.hear(AgentId{5}, Digests{{word(5, 9, 2), word(3, 8, 1, 700)}});
  home.tick(300ms);
  CHECK(home.sent.empty());  // what others said alone has time where nothing gets lost
  occupy(home, 50);
  home.tick();
  std::size_t told = 0;
  for (std::uint32_t a = 1; a < 6; ++a) {
    CHECK(home.count<Digest>(AgentId{a}) == 0);
    const Digests* said = home.last<Digests>(agent_node(AgentId{a}));
    if (said == nullptr) continue;
    ++told;
    REQUIRE_FALSE(said->words.empty());
    CHECK(said->words[0].digest.fence == home.state().fence());
    CHECK(said->words[0].digest.free == 3);
    CHECK(said->words[0].age_ms == 0);
    if (a == 5) {
      CHECK(said->words.size() == 1);
    } else {
      REQUIRE(said->words.size() == 3);
      CHECK(said->words[1].digest.fence.partition == PartitionId{3});
      CHECK(said->words[1].age_ms == 1000);  // ages add up
      CHECK(said->words[2].age_ms == 300);
    }
  }
  CHECK(told == Gossip::kFan);
}

TEST_CASE("of two words the newer counts, whichever agent tells it") {
  LargeFlock home(quiet());
  home.hear(AgentId{2}, Digests{{word(3, 8, 1)}});
  home.hear(AgentId{3}, Digests{{word(3, 7, 4)}});
  CHECK(home.state().flock.peers[3].digest->free == 1);
  home.hear(AgentId{4}, Digests{{word(3, 9, 2, 5000)}});
  CHECK(home.state().flock.peers[3].digest->free == 2);
  CHECK(home.state().flock.peers[3].digest_at == home.now - 5s);
}

TEST_CASE("news of others ask for a decision where a job waits") {
  LargeFlock home(quiet());
  home.submit(1, 4);
  home.tick();
  home.hear(AgentId{2}, Digests{{word(3, 8, 1)}});
  home.tick();
  CHECK(home.state().deciding.decided);
  home.hear(AgentId{4}, Digests{{word(3, 9, 1)}});
  home.tick();
  CHECK_FALSE(home.state().deciding.decided);
}

TEST_CASE("words of a partition without owner are refused, and with them all others") {
  LargeFlock home(quiet());
  home.hear(AgentId{2}, Digests{{word(3, 8, 1), word(99, 8, 1)}});
  CHECK(home.state().counters.refused_frames == 1);
  CHECK_FALSE(home.state().flock.peers[3].digest);
}

TEST_CASE("another's word of an epoch is not believed: its owner is asked") {
  LargeFlock home(quiet());
  home.sent.clear();
  Digests digests{{word(3, 8, 1)}};
  digests.words[0].digest.fence.epoch = Epoch{6};
  home.hear(AgentId{2}, digests);
  CHECK(home.state().flock.peers[3].epoch == Epoch{1});
  CHECK(home.last<Hello>(agent_node(AgentId{3})) != nullptr);
  home.hear(AgentId{3}, Welcome{{PartitionId{3}, Epoch{5}}});
  CHECK(home.state().flock.peers[3].epoch == Epoch{5});
  digests.words[0].digest.version = 9;
  home.hear(AgentId{3}, digests);
  CHECK(home.state().flock.peers[3].epoch == Epoch{6});
}

TEST_CASE("what an agent is told of itself changes nothing") {
  LargeFlock home(quiet());
  home.sent.clear();
  home.hear(AgentId{2}, Digests{{word(0, 1'000'000'000'000, 1)}});
  home.tick();
  CHECK(home.sent.empty());
}

TEST_CASE("a word that is not renewed gives way to a younger one, whatever its version") {
  LargeFlock home(config(Duration::max(), 1s));
  home.hear(AgentId{2}, Digests{{word(3, 1'000'000, 4)}});  // a lie
  home.tick(20s);
  home.hear(AgentId{4}, Digests{{word(3, 8, 1)}});
  CHECK(home.state().flock.peers[3].digest->free == 4);
  home.tick(1ns);
  home.hear(AgentId{4}, Digests{{word(3, 7, 2, 20'001)}});  // is as old
  CHECK(home.state().flock.peers[3].digest->free == 4);
  home.hear(AgentId{4}, Digests{{word(3, 8, 1)}});
  CHECK(home.state().flock.peers[3].digest->free == 1);
}

TEST_CASE("a word that has given way does not come back by an agent that was cut off") {
  LargeFlock home(config(Duration::max(), 1s));
  home.hear(AgentId{2}, Digests{{word(3, 1'000'000, 4)}});  // a lie
  home.tick(21s);
  home.hear(AgentId{4}, Digests{{word(3, 8, 1)}});
  REQUIRE(home.state().flock.peers[3].digest->free == 1);
  home.hear(AgentId{5}, Digests{{word(3, 1'000'000, 4, 21'000)}});
  CHECK(home.state().flock.peers[3].digest->free == 1);
  home.hear(AgentId{3}, Digests{{word(3, 9, 3)}});
  CHECK(home.state().flock.peers[3].digest->free == 3);
}

TEST_CASE("nor does a lie outlast the words of an owner that speaks less") {
  LargeFlock home(config(Duration::max(), 1s), 3);
  home.hear(AgentId{2}, Digests{{word(3, ~0ULL, 4)}});
  home.tick(21s);
  Digest own = digest(8);
  own.fence.partition = PartitionId{3};
  own.free = 1;
  home.hear(AgentId{3}, own, 3);
  CHECK(home.state().flock.peers[3].digest->free == 1);
}

TEST_CASE("where nothing gets lost news are passed on, too, though this agent has none") {
  LargeFlock home(quiet());
  home.hear(AgentId{2}, Digests{{word(3, 8, 1)}});
  home.tick();
  home.sent.clear();
  REQUIRE(home.state().flock.next_digest < kNever);
  home.tick(10min);
  REQUIRE(home.last<Digests>() != nullptr);
  CHECK(home.last<Digests>()->words.back().digest.fence.partition == PartitionId{3});
  home.tick(10min);
  home.sent.clear();
  home.tick(1h);
  CHECK(home.sent.empty());  // once
}

TEST_CASE("where frames get lost news are passed on after a while, and the own word is renewed") {
  LargeFlock home(config(Duration::max(), 1s));
  home.hear(AgentId{2}, Digests{{word(3, 8, 1)}});
  home.tick();
  home.sent.clear();
  REQUIRE(home.state().flock.next_digest < kNever);
  home.tick(1s);
  const Digests* said = home.last<Digests>();
  REQUIRE(said != nullptr);
  home.tick();
  home.sent.clear();
  home.tick(1s);
  CHECK(home.sent.empty());
  home.tick(10s);
  said = home.last<Digests>();
  REQUIRE(said != nullptr);
  CHECK(said->words[0].digest.fence == home.state().fence());
}

TEST_CASE("those who speak less are all told what this agent says, and nothing else") {
  LargeFlock home(quiet(), 3);
  home.sent.clear();
  occupy(home, 50);
  home.tick();
  for (std::uint32_t a = 2; a < 6; ++a) {
    CHECK(home.count<Digest>(AgentId{a}) == 1);
    CHECK(home.count<Digests>(AgentId{a}) == 0);
  }
}

}  // namespace
}  // namespace starling
