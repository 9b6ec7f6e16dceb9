// SPDX-License-Identifier: Apache-2.0
// Words between a home and the others, one at a time.
#include <doctest/doctest.h>

#include <algorithm>

#include "agents/home/scripted_home_test.h"
#include "policies/testing/test_placements.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE(
    "a gang goes from step to step when all have spoken, and repeats only to owners that have "
    "not") {
  ScriptedHome home(3);
  const JobId id = home.submit(1, 12);
  REQUIRE(home.decide(Spread{id, range(0, 4)}));
  const AttemptId attempt = home.job(1).attempt()->id;
  for (const std::uint32_t a : {1U, 2U})
    home.hear(AgentId{a}, Offer{attempt, {PartitionId{a}, range(4 * a, 4 * a + 4)}, 1000});
  REQUIRE(home.job(1).stage() == Stage::reserving);
  home.hear(AgentId{1}, Reserved{attempt, PartitionId{1}});
  CHECK(home.job(1).stage() == Stage::reserving);
  home.hear(AgentId{2}, Reserved{attempt, PartitionId{2}});
  REQUIRE(home.job(1).stage() == Stage::committing);
  CHECK(home.count<Commit>(AgentId{1}) == 1);
  home.hear(AgentId{1}, Committed{attempt, PartitionId{1}});
  home.tick(1s);
  CHECK(home.count<Commit>(AgentId{1}) == 1);
  CHECK(home.count<Commit>(AgentId{2}) == 2);
  home.hear(AgentId{2}, Committed{attempt, PartitionId{2}});
  REQUIRE(home.job(1).stage() == Stage::starting);
  home.hear(AgentId{1}, Started{attempt, PartitionId{1}});
  home.launched();
  CHECK(home.job(1).stage() == Stage::starting);
  home.hear(AgentId{2}, Started{attempt, PartitionId{2}});
  CHECK(home.job(1).stage() == Stage::running);
}

TEST_CASE("a part that has ended by itself had started, though that was never heard") {
  ScriptedHome home(2);
  const JobId id = home.submit(1, 8);
  REQUIRE(home.decide(Spread{id, range(0, 4)}));
  const AttemptId attempt = home.job(1).attempt()->id;
  home.hear(AgentId{1}, Offer{attempt, {PartitionId{1}, range(4, 8)}, 1000});
  home.hear(AgentId{1}, Reserved{attempt, PartitionId{1}});
  home.hear(AgentId{1}, Committed{attempt, PartitionId{1}});
  home.hear(AgentId{1}, Exited{attempt, PartitionId{1}, {}, 1s});
  CHECK(home.job(1).stage() == Stage::starting);
  home.launched();
  CHECK(home.job(1).stage() == Stage::running);
  home.tick(Timers{}.start + 1s);
  CHECK(home.job(1).stage() == Stage::running);
}

TEST_CASE("a job that another home gives away has waited since it was submitted there") {
  ScriptedHome home(2);
  Submit given;
  given.spec.id = JobId{0, 1};
  given.client = client_node(0);
  given.waited = 50s;
  given.forwards = 1;
  home.tick(10s);
  home.hear(AgentId{1}, given);
  CHECK(home.job(1).submitted == home.now - 50s);
}

TEST_CASE("only an owner can say that a job has ended") {
  ScriptedHome home;
  const JobId id = home.submit(1, 2);
  REQUIRE(home.decide(Start{id, range(0, 2)}));
  home.launched();
  const std::size_t said = home.sent.size();
  home.hear(client_node(0), Exited{home.job(1).attempt()->id, PartitionId{0}, {}, 1s});
  CHECK(home.sent.size() == said);
  CHECK(home.state().counters.refused_frames == 1);
  CHECK(home.job(1).stage() == Stage::running);
}

TEST_CASE("a page of a list is as long as a frame may be") {
  AgentConfig config;
  config.limits.frame_bytes = 4000;
  ScriptedHome home(1, config);
  JobSpec spec;
  spec.workers = 4;
  spec.name = std::string(100, 'n');
  for (std::uint64_t n = 1; n <= 40; ++n) home.submit(n, spec);
  home.hear(client_node(0), ListJobs{{}, 100});
  REQUIRE(home.last<JobList>() != nullptr);
  CHECK(home.last<JobList>()->more);
  CHECK(home.last<JobList>()->jobs.size() > 1);
  CHECK(home.last<JobList>()->jobs.size() < 30);
}

TEST_CASE("a page of a list asks for no more of the archive than fits into a frame") {
  AgentConfig config;
  config.limits.frame_bytes = 4000;
  std::vector<Record> earlier;
  for (std::uint64_t chunk = 1; chunk <= 4; ++chunk) {
    JobsArchived record;
    record.chunk = chunk;
    record.bytes = 1500;
    for (std::uint64_t n = 1; n <= 5; ++n) record.jobs.push_back({0, 5 * chunk + n});
    earlier.emplace_back(std::move(record));
  }
  ScriptedHome home(1, config, earlier);
  home.hear(client_node(0), ListJobs{{}, 100});
  REQUIRE(home.last<JobList>() != nullptr);
  CHECK(home.last<JobList>()->more);
  CHECK(home.last<JobList>()->jobs.size() == 2);  // 256 each, and the chunk
}

TEST_CASE("an owner's word that another epoch counts is taken from that owner alone") {
  ScriptedHome home(3);
  home.hear(AgentId{2}, Fenced{PartitionId{1}, Epoch{9}});
  CHECK(home.state().flock.peers[1].epoch < Epoch{9});
  CHECK(home.state().counters.refused_frames == 1);
  home.hear(AgentId{1}, Fenced{PartitionId{1}, Epoch{9}});
  CHECK(home.state().flock.peers[1].epoch == Epoch{9});
}

/// Gives the job to agent 1, which takes it and gives it back.
void goes_and_comes_back(ScriptedHome& home, const JobId& id, std::uint32_t offer) {
  REQUIRE(home.decide(Forward{id, AgentId{1}}));
  REQUIRE(home.last<Submit>(agent_node(AgentId{1}))->forwards == offer);
  home.hear(AgentId{1}, Accepted{id, AgentId{1}, offer});
  REQUIRE_FALSE(home.state().home.jobs.contains(id));
  JobSpec spec;
  spec.id = id;
  spec.workers = 2;
  home.hear(AgentId{1}, Submit{spec, client_node(0), 1s, 0s, offer + 1});
  REQUIRE(home.last<Accepted>(agent_node(AgentId{1}))->offer == offer + 1);
  REQUIRE(home.job(id.lo).stage() == Stage::waiting);
}

TEST_CASE("a job that came back is offered there again, and no answer to the first offer counts") {
  ScriptedHome home(3);
  const JobId id = home.submit(1, 2);
  goes_and_comes_back(home, id, 1);
  home.ask_policy();
  CHECK(home.script->seen.waiting_views.front().offered.empty());
  REQUIRE(home.decide(Forward{id, AgentId{1}}));
  CHECK(home.last<Submit>(agent_node(AgentId{1}))->forwards == 3);
  const auto is_still_offered = [&] {
    return home.job(1).stage() == Stage::offered && home.job(1).offered.size() == 1;
  };
  for (const std::uint32_t earlier : {0U, 1U, 2U}) {
    home.hear(AgentId{1}, Accepted{id, AgentId{1}, earlier});
    REQUIRE(is_still_offered());
    home.hear(AgentId{1}, Rejected{id, Refusal::invalid, "no", earlier});
    REQUIRE(is_still_offered());
  }
  SUBCASE("in this life") {}
  SUBCASE("nor in the next one") {
    std::vector<Record> journal;
    SUBCASE("from its journal") { journal = home.journal; }
    SUBCASE("from its snapshot") { journal = home.agent->snapshot(); }
    ScriptedHome next(3, {}, journal);
    next.hear(AgentId{1}, Accepted{id, AgentId{1}, 1});
    next.hear(AgentId{1}, Accepted{id, AgentId{1}});
    REQUIRE(next.job(1).stage() == Stage::offered);
    next.hear(AgentId{1}, Accepted{id, AgentId{1}, 3});
    CHECK_FALSE(next.state().home.jobs.contains(id));
  }
  home.hear(AgentId{1}, Accepted{id, AgentId{1}, 3});
  CHECK_FALSE(home.state().home.jobs.contains(id));
}

TEST_CASE("in a next life, too, a job that came back is offered where it was before") {
  ScriptedHome home(3);
  const JobId id = home.submit(1, 2);
  goes_and_comes_back(home, id, 1);
  REQUIRE(home.decide(Forward{id, AgentId{2}}));
  home.hear(AgentId{2}, Rejected{id, Refusal::invalid, "no", 3});
  std::vector<Record> journal;
  SUBCASE("from its journal") { journal = home.journal; }
  SUBCASE("from its snapshot") { journal = home.agent->snapshot(); }
  ScriptedHome next(3, {}, journal);
  next.hear(AgentId{1}, Ping{1});
  CHECK(next.job(1).offered == home.job(1).offered);
  CHECK(next.job(1).stay == 1);
  CHECK_FALSE(next.decide(Forward{id, AgentId{2}}));  // it has refused
  CHECK(next.decide(Forward{id, AgentId{1}}));
}

TEST_CASE(
    "a home that has gone back to an earlier protocol says by the job's state that it has it") {
  ScriptedHome home(3);
  const JobId id = home.submit(1, 2);
  goes_and_comes_back(home, id, 1);
  REQUIRE(home.decide(Forward{id, AgentId{1}}));
  home.hear(AgentId{1}, Accepted{id, AgentId{1}}, kOfferProtocol - 1);
  REQUIRE(home.last<Query>(agent_node(AgentId{1})) != nullptr);
  JobState state;
  state.job = id, state.home = AgentId{1}, state.phase = JobPhase::moved;
  state.forwards = 1;  // of its first stay there
  home.hear(AgentId{1}, state, kOfferProtocol - 1);
  REQUIRE(home.job(1).stage() == Stage::offered);
  state.phase = JobPhase::running, state.forwards = 3;
  home.hear(AgentId{1}, state, kOfferProtocol - 1);
  CHECK_FALSE(home.state().home.jobs.contains(id));
}

TEST_CASE("a home whose answers do not say which offer they answer is offered a job once") {
  ScriptedHome home(3);
  const JobId id = home.submit(1, 2);
  goes_and_comes_back(home, id, 1);
  home.hear(AgentId{1}, Ping{1}, kOfferProtocol - 1);
  CHECK_FALSE(home.decide(Forward{id, AgentId{1}}));
  CHECK(home.job(1).stage() == Stage::waiting);
  home.ask_policy();
  CHECK(home.script->seen.waiting_views.front().offered.size() == 1);  // it need not ask again
  CHECK(home.decide(Forward{id, AgentId{2}}));
  home.hear(AgentId{2}, Accepted{id, AgentId{2}});
  CHECK_FALSE(home.state().home.jobs.contains(id));
}

TEST_CASE("a job that went on and was forgotten comes back, and what is repeated of it does not") {
  AgentConfig config;
  config.limits.jobs_remembered = 2;
  ScriptedHome home(3, config);
  const JobId id{0, 1};
  const auto offered = [&](std::uint32_t offer) {
    JobSpec spec;
    spec.id = id;
    home.hear(AgentId{1}, Submit{spec, client_node(0), 1s, 0s, offer});
    return home.last<Accepted>(agent_node(AgentId{1}))->offer == offer;
  };
  REQUIRE(offered(1));
  REQUIRE(home.decide(Forward{id, AgentId{2}}));
  home.hear(AgentId{2}, Accepted{id, AgentId{2}, 2});
  for (const std::uint64_t n : {2, 3}) {
    const JobId other = home.submit(n, 2);
    REQUIRE(home.decide(Forward{other, AgentId{2}}));
    home.hear(AgentId{2}, Accepted{other, AgentId{2}, 1});
  }
  REQUIRE_FALSE(home.state().home.remembered.moved.contains(id));
  REQUIRE(home.state().home.remembered.archive.owed().contains(id));
  const auto snapshot = home.agent->snapshot();
  ScriptedHome next(3, config, snapshot);
  CHECK(next.state().home.remembered.archive.owed() == home.state().home.remembered.archive.owed());
  CHECK(offered(1));
  CHECK_FALSE(home.state().home.jobs.contains(id));
  CHECK(offered(3));
  CHECK(home.state().home.jobs.contains(id));
}

TEST_CASE("what goes on elsewhere under a later offer is owed no answer, however long it is open") {
  AgentConfig config;
  config.limits.jobs_remembered = 1;
  for (const std::uint32_t came_by : {1U, 2U, 3U}) {
    CAPTURE(came_by);
    ScriptedHome home(3, config);
    const JobId id{0, 1};
    JobSpec spec;
    spec.id = id;
    home.hear(AgentId{1}, Submit{spec, client_node(0), 1s, 0s, 1});
    REQUIRE(home.decide(Forward{id, AgentId{2}}));
    home.hear(AgentId{2}, Accepted{id, AgentId{2}, 2});
    const JobId other = home.submit(2, 2);
    REQUIRE(home.decide(Forward{other, AgentId{2}}));
    home.hear(AgentId{2}, Accepted{other, AgentId{2}, 1});
    REQUIRE(home.state().home.remembered.archive.owed().contains(id));
    home.tick(2min);
    REQUIRE(home.last<Query>(agent_node(AgentId{2})) != nullptr);
    JobState state;
    state.job = id, state.home = AgentId{2}, state.phase = JobPhase::waiting;
    state.forwards = came_by;
    home.hear(AgentId{2}, state);
    state.home = AgentId{1}, state.phase = JobPhase::unknown;
    home.hear(AgentId{1}, state);
    CHECK(home.state().home.remembered.archive.owed().contains(id) == (came_by < 2));
  }
}

TEST_CASE("a full home takes the job of one that it offers jobs to, or where it has but offers") {
  for (const bool one_waits : {false, true}) {
    for (const std::uint32_t from : {1U, 2U}) {
      CAPTURE(one_waits);
      CAPTURE(from);
      AgentConfig config;
      config.limits.jobs_waiting = 2;
      ScriptedHome home(3, config);
      const auto takes = [&](std::uint64_t n, std::uint32_t its) {
        JobSpec spec;
        spec.id = JobId{0, n};
        home.hear(AgentId{its}, Submit{spec, client_node(0), 1s, 0s, 1});
        return home.state().home.jobs.contains(spec.id);
      };
      for (const std::uint64_t n : {1, 2, 3, 4}) {
        REQUIRE(takes(n, 2));
        if (n == 4 && one_waits) break;
        REQUIRE(home.decide(Forward{JobId{0, n}, AgentId{1}}));
      }
      CHECK(takes(5, from) == (from == 1 || !one_waits));
      if (one_waits) continue;
      CHECK_FALSE(takes(6, 2));  // that one waits
      CHECK(takes(7, 1));
      CHECK_FALSE(takes(8, 1));  // three times the limit
    }
  }
}

TEST_CASE("an old life does not accept what a later one has given away, and is offered again") {
  ScriptedHome home(3);
  JobSpec spec;
  spec.id = JobId{0, 1};
  home.hear(AgentId{1}, Submit{spec, client_node(0), 1s, 0s, 1});
  REQUIRE(home.last<Accepted>(agent_node(AgentId{1}))->offer == 1);
  home.hear(AgentId{1}, Submit{spec, client_node(0), 1s, 0s, 3});
  CHECK(home.last<Accepted>(agent_node(AgentId{1}))->offer == 1);
  CHECK(home.job(1).stage() == Stage::waiting);
  home.hear(AgentId{1}, Submit{spec, client_node(0), 1s, 0s, 1});
  CHECK(home.count<Accepted>(AgentId{1}) == 2);
}

TEST_CASE("a home gives a job to another once, whatever its policy says after a refusal") {
  ScriptedHome home(3);
  const JobId id = home.submit(1, 2);
  REQUIRE(home.decide(Forward{id, AgentId{1}}));
  REQUIRE(home.job(1).stage() == Stage::offered);
  home.hear(AgentId{1}, Rejected{id, Refusal::invalid, "no"});
  REQUIRE(home.job(1).stage() == Stage::waiting);
  CHECK_FALSE(home.decide(Forward{id, AgentId{1}}));
  CHECK(home.job(1).stage() == Stage::waiting);
  CHECK(home.count<Submit>(AgentId{1}) == 1);
  CHECK(home.decide(Forward{id, AgentId{2}}));
  CHECK(home.count<Submit>(AgentId{2}) == 1);
}

TEST_CASE("what a job has run counts from the decision, and anew once all owners have started it") {
  ScriptedHome home;
  const JobId id = home.submit(1, 2);
  home.tick(1s);
  REQUIRE(home.decide(Start{id, range(0, 2)}));
  const Instant decided = home.now;
  CHECK(home.job(1).started() == decided);
  home.tick(1s);
  CHECK(home.job(1).started() == decided);
  home.launched();
  CHECK(home.job(1).stage() == Stage::running);
  CHECK(home.job(1).started() == home.now);
}

TEST_CASE("the views of running jobs leave with them") {
  ScriptedHome home;
  const JobId first = home.submit(1, 2);
  home.submit(2, 4);
  REQUIRE(home.decide(Start{first, range(0, 2)}));
  home.launched();
  home.ask_policy();
  REQUIRE(home.state().home.running.kept() == 1);
  home.hear(executor_node(0), Exited{home.job(1).attempt()->id, PartitionId{0}, {}, 1s});
  home.ask_policy();
  CHECK(home.state().home.running.kept() == 0);
}

}  // namespace
}  // namespace starling
