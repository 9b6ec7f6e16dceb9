// SPDX-License-Identifier: Apache-2.0
// A gang over several partitions has the size that its allocation says, and is resized by stopping
// all of it and asking anew.
#include <doctest/doctest.h>

#include <algorithm>

#include "agents/home/scripted_home_test.h"
#include "policies/testing/test_placements.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr AgentId kOne{1}, kTwo{2};

/// Six workers of a GPU, or two to twelve.
JobSpec elastic() {
  JobSpec spec;
  spec.workers = 6;
  spec.min_workers = 2;
  spec.max_workers = 12;
  return spec;
}

Allocation workers(std::uint32_t n) { return {.workers = n}; }

template <class R>
const R* written(const std::vector<Record>& journal) {
  for (auto at = journal.rbegin(); at != journal.rend(); ++at) {
    if (const auto* record = std::get_if<R>(&*at)) return record;
  }
  return nullptr;
}

/// Agent 0 of three with four GPUs each.
struct Resized {
  /// `life`: of the agent; `recovered`: what the earlier ones have written.
  explicit Resized(std::uint32_t life = 1, std::span<const Record> recovered = {})
      : home(3, config_of(life), recovered) {}
  static AgentConfig config_of(std::uint32_t life) {
    AgentConfig config;
    config.incarnation = Incarnation{life};
    return config;
  }

  [[nodiscard]] AttemptId attempt() const { return home.job(1).attempt()->id; }
  [[nodiscard]] Stage stage() const { return home.job(1).stage(); }
  void offer(AgentId from, Placement gpus) {
    home.hear(from, Offer{attempt(), {PartitionId{from.value}, std::move(gpus)}, 1000});
  }
  /// Those who are asked for a share agree to all up to the start.
  void agree() {
    REQUIRE(stage() == Stage::reserving);
    for (const bool reserve : {true, false}) {
      const std::vector<Participant> parts = home.job(1).attempt()->parts;
      for (const Participant& part : parts) {
        const PartitionId partition = part.share.partition;
        if (part.agent == AgentId{0}) continue;
        if (reserve) home.hear(part.agent, Reserved{attempt(), partition});
        if (!reserve) home.hear(part.agent, Committed{attempt(), partition});
      }
    }
    REQUIRE(stage() == Stage::starting);
  }
  void start() {
    const std::vector<Participant> parts = home.job(1).attempt()->parts;
    for (const Participant& part : parts) {
      if (part.agent == AgentId{0}) {
        home.launched();
      } else {
        home.hear(part.agent, Started{attempt(), part.share.partition});
      }
    }
    REQUIRE(stage() == Stage::running);
  }
  /// Nothing of the attempt runs any more, anywhere.
  void let_go() {
    REQUIRE(stage() == Stage::draining);
    const AttemptId over = attempt();
    const std::vector<Participant> parts = home.job(1).attempt()->parts;
    for (const Participant& part : parts) {
      if (part.agent != AgentId{0}) home.hear(part.agent, Released{over, part.share.partition, 9s});
    }
    if (const Kill* kill = home.last<Kill>(); kill != nullptr && kill->attempt == over)
      home.hear(executor_node(0), Killed{over, 9s});
  }
  /// Eight GPUs: all here and agent 1's.
  void run_on_eight() {
    job = home.submit(1, elastic());
    REQUIRE(home.decide(Spread{job, range(0, 4), {}, false, workers(8)}));
    offer(kOne, range(4, 8));
    home.hear(kTwo, NoOffer{attempt(), PartitionId{2}, "no room"});
    agree();
    start();
  }

  ScriptedHome home;
  JobId job{0, 1};
};

TEST_CASE("a gang asks for as many GPUs as its workers need, and starts whole with those") {
  Resized r;
  r.job = r.home.submit(1, elastic());
  SUBCASE("fewer than it asks for") {
    REQUIRE(r.home.decide(Spread{r.job, range(0, 2), {}, false, workers(5)}));
    CHECK(r.home.last<BidRequest>(agent_node(kOne))->gpus == 3);
    r.offer(kTwo, range(8, 11));
    r.home.hear(kOne, NoOffer{r.attempt(), PartitionId{1}, "no room"});
    r.agree();
    CHECK(r.home.job(1).placement.size() == 5);
  }
  SUBCASE("more") {
    REQUIRE(r.home.decide(Spread{r.job, range(0, 4), {}, false, workers(12)}));
    CHECK(r.home.last<BidRequest>(agent_node(kOne))->gpus == 8);
    r.offer(kOne, range(4, 8));
    r.offer(kTwo, range(8, 12));
    r.agree();
    CHECK(r.home.job(1).placement.size() == 12);
  }
  SUBCASE("none of them here") {
    REQUIRE(r.home.decide(Spread{r.job, {}, {}, false, workers(2)}));
    r.offer(kOne, range(4, 6));
    r.home.hear(kTwo, NoOffer{r.attempt(), PartitionId{2}, "no room"});
    r.agree();
    CHECK(r.home.job(1).placement == range(4, 6));
  }
  // Its GPUs tell its size, to those also who know no allocations.
  CHECK(written<AttemptStarting>(r.home.journal)->allocation.as_asked());
}

TEST_CASE("offers that make another size than was decided start nothing") {
  Resized r;
  r.job = r.home.submit(1, elastic());
  REQUIRE(r.home.decide(Spread{r.job, range(0, 4), {}, false, workers(8)}));
  r.offer(kOne, range(4, 6));
  r.offer(kTwo, range(8, 9));
  CHECK(r.stage() == Stage::waiting);
  CHECK(r.home.job(1).trouble == "round 1: the offers of all partitions lack 1 GPU");
  CHECK(r.home.state().owner.ledger.holds().empty());
}

TEST_CASE("a gang has the sizes that its job may have, and no others") {
  Resized r;
  r.job = r.home.submit(1, elastic());
  JobSpec rigid;
  rigid.workers = 6;
  const JobId stiff = r.home.submit(2, rigid);
  const auto refused = [&](const Decision& decision) {
    r.home.script->refusals.clear();
    REQUIRE_FALSE(r.home.decide(decision));
    return r.home.script->refusals.front().second;
  };
  using F = DecisionFault;
  CHECK(refused(Spread{r.job, range(0, 1), {}, false, workers(1)}) == F::wrong_size);
  CHECK(refused(Spread{r.job, range(0, 4), {}, false, workers(13)}) == F::wrong_size);
  CHECK(refused(Spread{r.job, range(0, 4), {}, false, workers(3)}) == F::wrong_size);
  CHECK(refused(Spread{r.job, {}, {}, false, workers(Allocation::kMost)}) == F::wrong_size);
  CHECK(refused(Spread{stiff, range(0, 4), {}, false, workers(8)}) == F::wrong_size);
  CHECK(refused(Spread{stiff, range(0, 2), {}, false, workers(5)}) == F::wrong_size);
  CHECK(r.home.decide(Spread{stiff, range(0, 4), {}, false, workers(6)}));
}

TEST_CASE("a job that runs here becomes a gang: it stops, and asks for the rest") {
  Resized r;
  r.job = r.home.submit(1, elastic());
  REQUIRE(r.home.decide(Start{r.job, range(0, 4)}));
  r.home.launched();
  REQUIRE(r.home.decide(Resize{r.job, range(0, 4), workers(8)}));
  CHECK(r.stage() == Stage::draining);
  const auto* plan = written<AttemptPlan>(r.home.journal);
  CHECK(plan->restart_at == range(0, 4));
  CHECK(plan->restart_as == workers(8));
  CHECK(r.home.last<BidRequest>() == nullptr);
  r.let_go();
  REQUIRE(r.stage() == Stage::bidding);
  CHECK(r.home.last<BidRequest>(agent_node(kOne))->gpus == 4);
  CHECK(r.home.last<JobState>()->phase == JobPhase::waiting);
  r.offer(kTwo, range(8, 12));
  r.home.hear(kOne, NoOffer{r.attempt(), PartitionId{1}, "no room"});
  r.agree();
  CHECK(r.home.job(1).placement.size() == 8);
  CHECK(r.home.job(1).served == 9s);
  CHECK(r.home.state().counters.resizes == 1);
}

TEST_CASE("a gang is resized over partitions, back into its home, or stopped: first all let go") {
  Resized r;
  r.run_on_eight();
  const int kept = r.home.count<BidRequest>(kOne);
  SUBCASE("it grows") {
    REQUIRE(r.home.decide(Resize{r.job, range(0, 4), workers(12)}));
    CHECK(r.home.count<Release>(kOne) == 1);
    r.home.hear(executor_node(0), Killed{r.attempt(), 9s});
    CHECK(r.stage() == Stage::draining);
    CHECK(r.home.count<BidRequest>(kOne) == kept);
    r.home.hear(kOne, Released{r.attempt(), PartitionId{1}, 9s});
    CHECK(r.stage() == Stage::bidding);
    CHECK(r.home.last<BidRequest>(agent_node(kOne))->gpus == 8);
  }
  SUBCASE("it shrinks") {
    REQUIRE(r.home.decide(Resize{r.job, range(0, 2), workers(3)}));
    r.let_go();
    CHECK(r.home.last<BidRequest>(agent_node(kOne))->gpus == 1);
    CHECK(r.home.state().owner.ledger.held_count() == 2);
  }
  SUBCASE("it comes home") {
    REQUIRE(r.home.decide(Resize{r.job, range(0, 3)}));
    r.let_go();
    CHECK(r.stage() == Stage::starting);
    CHECK(r.home.job(1).placement == range(0, 3));
    CHECK(r.home.count<BidRequest>(kOne) == kept);
  }
  SUBCASE("it waits") {
    REQUIRE(r.home.decide(Preempt{r.job}));
    r.let_go();
    CHECK(r.stage() == Stage::waiting);
    CHECK(r.home.state().owner.ledger.holds().empty());
  }
}

TEST_CASE("a Resize that makes no gang, or the one that runs, stops nothing") {
  Resized r;
  r.run_on_eight();
  const auto refused = [&](const Decision& decision) {
    r.home.script->refusals.clear();
    REQUIRE_FALSE(r.home.decide(decision));
    return r.home.script->refusals.front().second;
  };
  using F = DecisionFault;
  CHECK(refused(Resize{r.job, range(0, 4), workers(8)}) == F::wrong_size);
  CHECK(refused(Resize{r.job, range(0, 4), workers(13)}) == F::wrong_size);
  CHECK(refused(Resize{r.job, range(0, 4), workers(3)}) == F::wrong_allocation);
  CHECK(refused(Resize{r.job, range(2, 6), workers(8)}) == F::wrong_gpus);
  CHECK(r.stage() == Stage::running);
  CHECK(r.home.state().counters.resizes == 0);
  // As large, with other GPUs of this partition.
  CHECK(r.home.decide(Resize{r.job, range(0, 3), workers(8)}));
}

TEST_CASE("with no other agent in the flock no job becomes a gang over partitions") {
  ScriptedHome home(1);
  JobSpec spec = elastic();
  spec.workers = 4;
  const JobId job = home.submit(1, spec);
  REQUIRE(home.decide(Start{job, range(0, 2)}));
  home.launched();
  home.script->refusals.clear();
  CHECK_FALSE(home.decide(Resize{job, range(0, 2), workers(4)}));
  CHECK(home.script->refusals.front().second == DecisionFault::no_home);
}

TEST_CASE("the next life of its home stops the gang everywhere and asks anew") {
  Resized r;
  r.run_on_eight();
  REQUIRE(r.home.decide(Resize{r.job, range(0, 4), workers(12)}));
  const bool compacted = true;
  for (const bool snapshot : {false, compacted}) {
    CAPTURE(snapshot);
    Resized next(2, snapshot ? r.home.agent->snapshot() : r.home.journal);
    REQUIRE(next.stage() == Stage::draining);
    CHECK(next.home.count<Release>(kOne) > 0);
    next.let_go();
    CHECK(next.stage() == Stage::bidding);
    CHECK(next.home.last<BidRequest>(agent_node(kTwo))->gpus == 8);
    // Between the stop and the start nothing holds anything, and no agent has to be told.
    Resized after(3, next.home.agent->snapshot());
    CHECK(after.stage() == Stage::waiting);
    CHECK(after.home.job(1).served == 9s);
  }
}

TEST_CASE("when its own GPUs are gone by then, or no agent can be asked, it waits as any other") {
  Resized r;
  r.job = r.home.submit(1, elastic());
  REQUIRE(r.home.decide(Start{r.job, range(0, 2)}));
  r.home.launched();
  REQUIRE(r.home.decide(Resize{r.job, range(0, 4), workers(8)}));
  r.home.hear(kTwo, Reserve{AttemptId{JobId{0, 9}, Epoch{1}, 1}, r.home.state().fence(),
                            range(2, 4), 5000});
  REQUIRE(r.home.last<Reserved>() != nullptr);
  r.let_go();
  CHECK(r.stage() == Stage::waiting);
  CHECK(r.home.last<BidRequest>() == nullptr);
  CHECK(r.home.state().owner.ledger.held_count() == 2);
}

TEST_CASE("a cancel of a gang between its sizes ends it") {
  Resized r;
  r.run_on_eight();
  REQUIRE(r.home.decide(Resize{r.job, range(0, 4), workers(12)}));
  SUBCASE("while it stops") {
    r.home.hear(client_node(0), Cancel{r.job});
    r.let_go();
  }
  SUBCASE("while it asks") {
    r.let_go();
    REQUIRE(r.stage() == Stage::bidding);
    r.home.hear(client_node(0), Cancel{r.job});
  }
  CHECK(r.home.state().home.jobs.empty());
  CHECK(r.home.last<JobState>()->phase == JobPhase::cancelled);
  CHECK(r.home.state().owner.ledger.holds().empty());
}

TEST_CASE("a size of copies that an older owner does not know is given up before any GPU is held") {
  ScriptedHome home(2);
  JobSpec spec;
  spec.workers = 2;
  spec.run.copies = true;
  const JobId job = home.submit(1, spec);
  REQUIRE(home.decide(Spread{job, range(0, 4), {}, false, {6, 0, 0, 0, true}}));
  const AttemptId attempt = home.last<BidRequest>()->attempt;
  home.hear(AgentId{1}, Offer{attempt, {PartitionId{1}, range(4, 6)}, 1000},
            kAllocationProtocol - 1);
  CHECK(home.job(1).stage() == Stage::waiting);
  CHECK(home.count<Reserve>(AgentId{1}) == 0);
  CHECK(home.job(1).as_asked);
  CHECK(home.state().owner.ledger.holds().empty());
}

}  // namespace
}  // namespace starling
