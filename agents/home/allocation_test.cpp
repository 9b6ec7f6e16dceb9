// SPDX-License-Identifier: Apache-2.0
// How an attempt runs is decided once, and everybody who has a part in it knows it, in every life;
// where a node would leave it out the job runs as it asks.
#include <doctest/doctest.h>

#include "agents/home/scripted_home_test.h"
#include "agents/owner/scripted_owner_test.h"
#include "policies/testing/test_placements.h"

namespace starling {
namespace {

constexpr std::uint16_t kBefore = kAllocationProtocol - 1;
constexpr Allocation kHow{0, 0, 64, 1, false};
constexpr Allocation kTwoWorkers{2, 0, 64, 1, false};

template <class R>
const R* written(const std::vector<Record>& journal) {
  for (auto at = journal.rbegin(); at != journal.rend(); ++at) {
    if (const auto* record = std::get_if<R>(&*at)) return record;
  }
  return nullptr;
}

/// Whatever ran is gone.
void release(ScriptedHome& home) {
  home.hear(executor_node(0), Killed{home.last<Kill>()->attempt, Duration{5}});
}

TEST_CASE("an attempt has the allocation that was decided, with its workers") {
  ScriptedHome home;
  const JobId job = home.submit(1, 2);
  REQUIRE(home.decide(Start{job, range(0, 2), kHow}));
  CHECK(home.last<Launch>()->allocation == kTwoWorkers);
  CHECK(written<AttemptStarting>(home.journal)->allocation == kTwoWorkers);
  CHECK(written<ShareCommitted>(home.journal)->commit.allocation == kTwoWorkers);
  home.launched();
  home.ask_policy();
  CHECK(home.script->seen.allocations == std::vector{kTwoWorkers});
  home.hear(client_node(0), Query{job});
  CHECK(home.last<JobState>()->allocation == kTwoWorkers);
  home.hear(client_node(0), Explain{job});
  bool told = false;
  for (const std::string& line : home.last<Explanation>()->lines)
    told = told || line ==
                       "runs otherwise than it asks: 2 workers, batches of 64 a worker, 1 further "
                       "gradient";
  CHECK(told);
}

TEST_CASE("as asked is as before: nothing more is written") {
  ScriptedHome home;
  const JobId job = home.submit(1, 2);
  REQUIRE(home.decide(Start{job, range(0, 2)}));
  CHECK(home.last<Launch>()->allocation.as_asked());
  CHECK(written<AttemptStarting>(home.journal)->allocation.as_asked());
}

TEST_CASE("other workers than the GPUs make, and numbers beyond all measure, are refused") {
  ScriptedHome home;
  const JobId job = home.submit(1, 2);
  CHECK_FALSE(home.decide(Start{job, range(0, 2), {3, 0, 64, 0, false}}));
  CHECK_FALSE(home.decide(Start{job, range(0, 2), {2, 0, Allocation::kMost + 1, 0, false}}));
  using F = DecisionFault;
  CHECK(home.script->refusals ==
        std::vector<std::pair<JobId, F>>{{job, F::wrong_allocation}, {job, F::wrong_allocation}});
  CHECK(home.decide(Start{job, range(0, 2), {2, 0, 64, 0, false}}));
}

TEST_CASE("more servers or a larger batch than the job says that it can do with are refused") {
  ScriptedHome home;
  JobSpec spec;
  spec.workers = 2;
  spec.run.max_servers = 4, spec.run.batch = 64, spec.run.max_batch = 256;
  const JobId job = home.submit(1, spec);
  CHECK_FALSE(home.decide(Start{job, range(0, 2), {2, 5, 0, 0, false}}));
  CHECK_FALSE(home.decide(Start{job, range(0, 2), {2, 0, 129, 0, false}}));
  CHECK_FALSE(home.decide(Start{job, range(0, 2), {2, 0, 64, 2, false}}));
  CHECK(home.decide(Start{job, range(0, 2), {2, 4, 64, 1, false}}));
  CHECK(home.last<Launch>()->spec.run == spec.run);
}

TEST_CASE(
    "a job that may be forked has any whole workers in copies, no other job and not otherwise") {
  ScriptedHome home;
  JobSpec spec;
  spec.workers = 2;
  const JobId rigid = home.submit(1, spec);
  spec.run.copies = true;
  const JobId forks = home.submit(2, spec);
  CHECK_FALSE(home.decide(Start{rigid, range(0, 4), {4, 0, 0, 0, true}}));
  CHECK_FALSE(home.decide(Start{forks, range(0, 4), {4, 0, 0, 0, false}}));
  CHECK_FALSE(home.decide(Start{forks, range(0, 4)}));
  SUBCASE("all partitions know what copies are") {
    REQUIRE(home.decide(Start{forks, range(0, 4), {4, 0, 0, 0, true}}));
    CHECK(home.last<Launch>()->allocation.averaged);
    CHECK(home.last<Launch>()->here.size() == 4);
  }
  SUBCASE("its executor is older") {
    home.hear(executor_node(0), Pong{1}, kBefore);
    home.script->next = {Start{forks, range(0, 4), {4, 0, 0, 0, true}}};
    home.hear(executor_node(0), GpuHealth{9, {}}, kBefore);
    home.tick();
    CHECK(home.last<Launch>() == nullptr);
  }
}

TEST_CASE("another allocation on the same GPUs is another attempt, the same one is none") {
  ScriptedHome home;
  const JobId job = home.submit(1, 2);
  REQUIRE(home.decide(Start{job, range(0, 2), kHow}));
  home.launched();
  CHECK_FALSE(home.decide(Resize{job, range(0, 2), kHow}));
  CHECK_FALSE(home.decide(Resize{job, range(0, 2), kTwoWorkers}));
  Allocation other = kTwoWorkers;
  other.local_batch = 128;
  REQUIRE(home.decide(Resize{job, range(0, 2), other}));
  CHECK(written<AttemptPlan>(home.journal)->restart_as == other);
  SUBCASE("in this life") {
    release(home);
    CHECK(home.last<Launch>()->allocation == other);
    home.launched();
    CHECK(home.decide(Resize{job, range(0, 2)}));
    release(home);
    CHECK(home.last<Launch>()->allocation.as_asked());
  }
  SUBCASE("in the next one") {
    ScriptedHome next(1, {}, home.journal);
    const Job::Run& run = *next.job(1).run();
    CHECK(run.attempt.allocation == kTwoWorkers);
    CHECK(run.drain->restart_as == other);
    CHECK(next.state().owner.shares.begin()->second.allocation == kTwoWorkers);
    ScriptedHome compacted(1, {}, next.agent->snapshot());
    CHECK(compacted.job(1).run()->attempt.allocation == kTwoWorkers);
    CHECK(compacted.job(1).run()->drain->restart_as == other);
    CHECK(compacted.state().owner.shares.begin()->second.allocation == kTwoWorkers);
  }
}

TEST_CASE(
    "where the executor is older the job starts as it asks, and is not started again for it") {
  ScriptedHome home;
  const JobId job = home.submit(1, 2);
  home.hear(executor_node(0), Pong{1}, kBefore);
  home.script->next = {Start{job, range(0, 2), kHow}};
  home.hear(executor_node(0), GpuHealth{9, {}}, kBefore);
  home.tick();
  REQUIRE(home.last<Launch>() != nullptr);
  CHECK(home.last<Launch>()->allocation.as_asked());
  home.hear(executor_node(0), LaunchResult{home.last<Launch>()->attempt, true, {}}, kBefore);
  home.script->next = {Resize{job, range(0, 2), kHow}};
  home.hear(executor_node(0), GpuHealth{10, {}}, kBefore);
  home.tick();
  CHECK(home.job(1).stage() == Stage::running);
  // The executor has been upgraded.
  home.health = 10;
  REQUIRE(home.decide(Resize{job, range(0, 2), kHow}));
  release(home);
  CHECK(home.last<Launch>()->allocation == kTwoWorkers);
}

/// A gang of GPUs 0-3 here and two of agent 1's, up to what is said to agent 1 at the Commit.
const Commit* commit_to(ScriptedHome& home, JobId job, std::uint16_t protocol) {
  const std::size_t before = home.sent.size();
  REQUIRE(home.decide(Spread{job, range(0, 4), std::nullopt, false, {6, 0, 64, 0, false}}));
  const AttemptId attempt = home.last<BidRequest>()->attempt;
  const NodeId other = agent_node(AgentId{1});
  home.hear(other, Offer{attempt, {PartitionId{1}, range(4, 6)}, 1000}, protocol);
  home.hear(other, Reserved{attempt, PartitionId{1}}, protocol);
  REQUIRE(home.sent.size() > before);
  return home.last<Commit>(other);
}

TEST_CASE("a gang over partitions runs by an allocation if all its owners know it") {
  ScriptedHome home(2);
  const JobId job = home.submit(1, 6);
  const Commit* commit = commit_to(home, job, kNewestProtocol);
  REQUIRE(commit != nullptr);
  CHECK(commit->allocation == Allocation{6, 0, 64, 0, false});
  SUBCASE("and goes on with it") {
    home.hear(AgentId{1}, Committed{commit->attempt, PartitionId{1}});
    CHECK(home.last<Launch>()->allocation == Allocation{6, 0, 64, 0, false});
    CHECK(written<AttemptStarting>(home.journal)->allocation == Allocation{6, 0, 64, 0, false});
  }
  SUBCASE("unless one of them has an older executor: then the next round is as it asks") {
    home.hear(AgentId{1}, CommitRefused{commit->attempt, PartitionId{1}, Refusal::never_fits});
    CHECK(home.job(1).as_asked);
    home.tick(std::chrono::minutes(5));
    CHECK(commit_to(home, job, kNewestProtocol)->allocation.as_asked());
  }
}

TEST_CASE("a gang with an older owner runs as it asks") {
  ScriptedHome home(2);
  const JobId job = home.submit(1, 6);
  const Commit* commit = commit_to(home, job, kBefore);
  REQUIRE(commit != nullptr);
  CHECK(commit->allocation.as_asked());
}

TEST_CASE("an owner with an older executor takes no share that is to run otherwise than asked") {
  for (const std::uint16_t protocol : {kBefore, kNewestProtocol}) {
    CAPTURE(protocol);
    ScriptedOwner owner;
    owner.hear(ScriptedOwner::kExecutor, Pong{1}, protocol);
    owner.hear(ScriptedOwner::kHome,
               Reserve{owner.attempt, ScriptedOwner::kFence, owner.gpus, 5000});
    Commit commit = owner.commit();
    commit.allocation = {3, 0, 64, 0, false};
    owner.hear(ScriptedOwner::kHome, commit);
    if (protocol == kBefore) {
      REQUIRE(owner.said<CommitRefused>() != nullptr);
      CHECK(owner.said<CommitRefused>()->why == Refusal::never_fits);
      continue;
    }
    REQUIRE(owner.said<Committed>() != nullptr);
    // By now it has come back as an older program: no agent is told to start what it cannot.
    owner.hear(ScriptedOwner::kExecutor, Pong{2}, kBefore);
    owner.hear(ScriptedOwner::kHome, StartAttempt{owner.attempt, ScriptedOwner::kFence});
    CHECK(owner.said<Launch>() == nullptr);
    REQUIRE(owner.said<Exited>() != nullptr);
    CHECK(owner.said<Exited>()->exit.lost);
  }
}

}  // namespace
}  // namespace starling
