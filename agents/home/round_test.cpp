// SPDX-License-Identifier: Apache-2.0
// A round of a home with the other partitions, message by message.
#include <doctest/doctest.h>

#include <chrono>

#include "agents/home/scripted_home_test.h"
#include "policies/testing/test_placements.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr AgentId kMe{0}, kOne{1}, kTwo{2};
constexpr std::uint32_t kRoundsBeforeSequential = 4;

/// A gang of twelve on three partitions of four.
struct Gang {
  explicit Gang(AgentConfig config = {}) : home(3, std::move(config)) { job = home.submit(1, 12); }

  Placement gpus_of(AgentId agent) const { return range(4 * agent.value, 4 * agent.value + 4); }
  /// All offer what they have; reserving begins.
  void bid() {
    REQUIRE(home.decide(Spread{job, gpus_of(kMe)}));
    for (const AgentId agent : {kOne, kTwo})
      home.hear(agent, Offer{attempt(), {PartitionId{agent.value}, gpus_of(agent)}, 1000});
    REQUIRE(stage() == Stage::reserving);
  }
  /// All hold what they have offered.
  void hold() {
    for (const AgentId agent : {kOne, kTwo})
      home.hear(agent, Reserved{attempt(), PartitionId{agent.value}});
    REQUIRE(stage() == Stage::committing);
  }
  /// For good; they may start.
  void commit() {
    for (const AgentId agent : {kOne, kTwo})
      home.hear(agent, Committed{attempt(), PartitionId{agent.value}});
    REQUIRE(stage() == Stage::starting);
  }
  void refuse(AgentId from, Refusal why) {
    home.hear(from, ReserveRefused{attempt(), PartitionId{from.value}, why});
  }
  void next_timer() { home.tick(home.job(1).timer - home.now); }
  Stage stage() const { return home.job(1).stage(); }
  AttemptId attempt() const {
    const Attempt* open = home.job(1).attempt();
    return open != nullptr ? open->id : AttemptId{};
  }

  ScriptedHome home;
  JobId job;
};

TEST_CASE("all are asked at once, those without an answer again, and none commits before all") {
  Gang gang;
  gang.bid();
  CHECK(gang.home.count<Reserve>(kOne) == 1);
  CHECK(gang.home.count<Reserve>(kTwo) == 1);
  gang.home.hear(kTwo, Reserved{gang.attempt(), PartitionId{2}});
  gang.next_timer();
  CHECK(gang.home.count<Reserve>(kOne) == 2);
  CHECK(gang.home.count<Reserve>(kTwo) == 1);
  CHECK(gang.home.count<Commit>(kTwo) == 0);
  gang.home.hear(kOne, Reserved{gang.attempt(), PartitionId{1}});
  CHECK(gang.stage() == Stage::committing);
  gang.home.tick(1s);
  for (const AgentId agent : {kOne, kTwo})
    gang.home.hear(agent, Committed{gang.attempt(), PartitionId{agent.value}});
  CHECK(gang.stage() == Stage::starting);
  CHECK(gang.home.job(1).started() == gang.home.now);
  CHECK(gang.home.job(1).failed_rounds == 0);
}

TEST_CASE("a Commit is repeated soon, however often its Reserve had to be") {
  Gang gang;
  gang.bid();
  for (int i = 0; i < 4; ++i) gang.next_timer();
  const Timers& timers = gang.home.agent->config().timers;
  REQUIRE(gang.home.job(1).backoff > 2 * timers.retry_min);
  gang.hold();
  CHECK(gang.home.job(1).timer <= later(gang.home.now, timers.retry_min));
}

TEST_CASE("a Start is repeated soon, however often its Commit had to be") {
  Gang gang;
  gang.bid();
  gang.hold();
  for (int i = 0; i < 4; ++i) gang.next_timer();
  const Timers& timers = gang.home.agent->config().timers;
  REQUIRE(gang.home.job(1).backoff > 2 * timers.retry_min);
  gang.commit();
  CHECK(gang.home.job(1).timer <= later(gang.home.now, timers.retry_min));
}

TEST_CASE(
    "an owner that has started its part and is silent for too long is lost, though others start") {
  AgentConfig config;
  config.timers.start = 1h;
  config.timers.orphan = config.timers.kill_grace = config.timers.late = 10s;
  Gang gang(std::move(config));
  gang.bid();
  gang.hold();
  gang.commit();
  gang.home.hear(kOne, Started{gang.attempt(), PartitionId{1}});
  const Instant started = gang.home.now;
  while (gang.stage() == Stage::starting && gang.home.now < started + 2min) gang.next_timer();
  CHECK(gang.stage() == Stage::draining);
  CHECK(gang.home.job(1).trouble == "partition 1 has not been heard of for too long");
  CHECK(gang.home.now >= later(started, lost_after(gang.home.agent->config().timers)));
}

TEST_CASE("a round that gets no answer is over when what it holds lapses") {
  Gang gang;
  gang.bid();
  const Instant lapses = later(gang.home.now, gang.home.agent->config().timers.hold);
  while (gang.stage() == Stage::reserving && gang.home.now < lapses) gang.next_timer();
  CHECK(gang.home.now == lapses);
  CHECK(gang.stage() == Stage::waiting);
  CHECK(gang.home.job(1).trouble == "no answer within the hold time");
  CHECK(gang.home.state().owner.ledger.holds().empty());
}

TEST_CASE(
    "after some rounds that others won, partitions are asked in turn, and what is held is kept") {
  Gang gang;
  for (std::uint32_t round = 1; round <= kRoundsBeforeSequential; ++round) {
    CAPTURE(round);
    gang.bid();
    gang.refuse(kOne, Refusal::conflict);
    CHECK(gang.stage() == Stage::waiting);
    CHECK(gang.home.job(1).failed_rounds == round);
    gang.next_timer();
  }
  const int asked_one = gang.home.count<Reserve>(kOne), asked_two = gang.home.count<Reserve>(kTwo);
  gang.bid();
  CHECK(gang.home.count<Reserve>(kOne) == asked_one + 1);
  CHECK(gang.home.count<Reserve>(kTwo) == asked_two);
  gang.refuse(kOne, Refusal::conflict);
  CHECK(gang.stage() == Stage::reserving);
  CHECK(gang.home.state().owner.ledger.held_count() == 4);
  CHECK(gang.home.job(1).trouble.find("partition 1 refused") != std::string::npos);
  gang.next_timer();
  CHECK(gang.home.count<Reserve>(kOne) == asked_one + 2);
  gang.home.hear(kOne, Reserved{gang.attempt(), PartitionId{1}});
  CHECK(gang.home.count<Reserve>(kTwo) == asked_two + 1);
  SUBCASE("what waiting does not mend ends the round") {
    gang.refuse(kTwo, Refusal::invalid);
    CHECK(gang.stage() == Stage::waiting);
    CHECK(gang.home.state().owner.ledger.held_count() == 0);
  }
  SUBCASE("the last one has it, too") {
    gang.home.hear(kTwo, Reserved{gang.attempt(), PartitionId{2}});
    CHECK(gang.stage() == Stage::committing);
  }
}

TEST_CASE("a gang spans no more partitions than it may") {
  AgentConfig config;
  config.limits.participants_per_job = 2;
  Gang gang(config);
  REQUIRE(gang.home.decide(Spread{gang.job, gang.gpus_of(kMe)}));
  for (const AgentId agent : {kOne, kTwo})
    gang.home.hear(agent,
                   Offer{gang.attempt(), {PartitionId{agent.value}, gang.gpus_of(agent)}, 1000});
  CHECK(gang.stage() == Stage::waiting);
  CHECK(gang.home.job(1).trouble.find("lack 4 GPUs") != std::string::npos);
  CHECK(gang.home.last<Reserve>() == nullptr);
}

TEST_CASE("an owner wakes when a Launch is to be repeated, before the next heartbeat") {
  ScriptedHome home;
  const JobId job = home.submit(1, 1);
  REQUIRE(home.decide(Start{job, {GpuId{0}}}));
  REQUIRE(home.state().owner.share_timers.size() == 1);
  const Instant due = home.state().owner.share_timers.next();
  CHECK(due < home.state().beat);
  CHECK(home.agent->next_deadline() == due);
}

TEST_CASE("a Started of nothing that starts changes nothing") {
  Gang gang;
  gang.home.hear(kOne, Started{{JobId{0, 99}, Epoch{1}, 7}, PartitionId{1}});
  gang.bid();
  gang.home.hear(kOne, Started{gang.attempt(), PartitionId{1}});
  CHECK(gang.stage() == Stage::reserving);
  CHECK_FALSE(gang.home.job(1).attempt()->parts[1].started);
}

}  // namespace
}  // namespace starling
