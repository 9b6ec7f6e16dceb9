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

TEST_CASE("that a hold has lapsed is told though nobody decides anything") {
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

TEST_CASE("whoever has told something knows when to say it again") {
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

TEST_CASE("a digest asks for a decision where it says something new and somebody waits") {
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

}  // namespace
}  // namespace starling
