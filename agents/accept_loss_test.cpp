// SPDX-License-Identifier: Apache-2.0
// A home goes on from an older copy of its journal, on purpose: nothing that was open in it starts
// again.
#include "agents/accept_loss.h"

#include <doctest/doctest.h>

#include <chrono>

#include "agents/step/state.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

std::vector<Record> accepted(std::vector<Record> journal, AgentId me, OpenJobs* open = nullptr) {
  const OpenJobs ended = end_open_jobs(me, journal, "nobody knows");
  journal.insert(journal.end(), ended.records.begin(), ended.records.end());
  if (open != nullptr) *open = ended;
  return journal;
}

TEST_CASE("from every prefix of a journal: no job that was open is launched, all come to an end") {
  std::size_t prefixes = 0, failed = 0;
  for (std::size_t length = 0;; ++length) {
    TestFlock flock({.agents = 1, .servers = 2, .seed = 3, .delay = 1ms, .lossy = true});
    flock.submit(1, 2, 3s);
    flock.submit(2, 8, 2s);
    flock.submit(3, 1, 20s);
    flock.run_for(1s);
    flock.crash_executor(1);
    flock.restart_executor(1);
    flock.run_for(9s);
    flock.cancel(3);
    flock.run_for(1s);
    const std::vector<Record> whole = flock.journal(0);
    if (length > whole.size()) break;
    CAPTURE(length);
    flock.crash_agent(0);
    OpenJobs open;
    flock.put_back(0, accepted({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)},
                               AgentId{0}, &open));
    const std::uint64_t launched = flock.launches();
    flock.restart_agent(0);
    flock.run_for(60s);
    CHECK(flock.launches() == launched);
    CHECK(flock.agent(0).home.jobs.empty());
    CHECK(flock.processes() == 0);
    for (const JobId job : open.failed) {
      REQUIRE(flock.agent(0).home.remembered.ended.contains(job));
      const JobState& state = flock.agent(0).home.remembered.ended.at(job);
      CHECK(state.phase == JobPhase::failed);
      CHECK(state.exit.lost);
      CHECK(state.exit.log_tail == "nobody knows");
    }
    failed += open.failed.size();
    ++prefixes;
  }
  CHECK(prefixes > 20);
  CHECK(failed > 20);
}

TEST_CASE("copied while its jobs run: they are ended everywhere, and new ones find room") {
  TestFlock flock({.agents = 2, .servers = 4, .seed = 4, .delay = 1ms, .lossy = true});
  flock.submit(1, 16, 0s);  // on both partitions
  flock.run_for(2s);
  REQUIRE(flock.phase(1) == JobPhase::running);
  const std::vector<Record> copy = flock.journal(0);
  flock.submit(2, 1, 0s);  // waits
  flock.run_for(1s);
  flock.crash_agent(0);
  flock.put_back(0, accepted(copy, AgentId{0}));
  flock.restart_agent(0);
  flock.run_for(30s);
  CHECK(flock.processes() == 0);
  CHECK(flock.phase(1) == JobPhase::failed);
  flock.submit(3, 16, 1s);
  flock.run_for(60s);
  CHECK(flock.phase(3) == JobPhase::finished);
}

TEST_CASE("what was decided about a job, or who has it, stays so") {
  const AgentId me{0};
  const JobId waits{0, 1}, given{0, 2}, cancelled{0, 3}, ended{0, 4}, back{0, 5};
  const auto accept = [](JobId id) {
    JobAccepted record;
    record.submit.spec.id = id;
    return record;
  };
  const AttemptId attempt{cancelled, Epoch{1}, 7};
  const std::vector<Record> journal = {accept(waits),
                                       accept(given),
                                       JobOffered{given, AgentId{1}},
                                       accept(back),
                                       JobOffered{back, AgentId{1}},
                                       JobOffered{back, me},
                                       accept(cancelled),
                                       AttemptStarting{attempt, {}},
                                       AttemptDraining{attempt},
                                       AttemptPlan{attempt, AfterDrain::cancel, {}, {}},
                                       accept(ended),
                                       JobEnded{ended, {}}};
  const OpenJobs open = end_open_jobs(me, journal, "nobody knows");
  CHECK(open.failed == std::vector<JobId>{waits, back});
  CHECK(open.given_away == std::vector<JobId>{given});
  REQUIRE(open.records.size() == 3);
  CHECK(std::get<JobEnded>(open.records[0]).job == waits);
  CHECK(std::get<JobMoved>(open.records[1]).to == AgentId{1});
  CHECK(std::get<JobEnded>(open.records[2]).job == back);
}

TEST_CASE("a job that was offered and is not known there fails, for else it would have no home") {
  const AgentId me{0}, other{1};
  const auto accept = [](JobId id) {
    JobAccepted record;
    record.submit.spec.id = id;
    return record;
  };
  const JobId came{0, 1}, archived{0, 2}, lost{0, 3}, owed{0, 4}, settled{0, 5}, went{0, 6};
  std::vector<Record> journal;
  for (const JobId& id : {came, archived, lost, owed, settled, went}) {
    journal.emplace_back(accept(id));
    journal.emplace_back(JobOffered{id, other});
  }
  JobAccepted had = accept(came);
  had.submit.forwards = 1;
  // It was there before it came to this home, and has gone on since.
  const std::vector<Record> elsewhere = {had,
                                         accept(went),
                                         JobMoved{went, AgentId{0}},
                                         JobsArchived{1, 10, {}, {archived}, {}},
                                         OffersOwed{{owed}},
                                         OffersSettled{{settled}}};
  const auto known = jobs_known_to(elsewhere);
  const OpenJobs open = end_open_jobs(me, journal, "nobody knows",
                                      [&](AgentId to, const JobId& j, std::uint32_t offer) {
                                        CHECK(to == other);
                                        return known.contains(j) && known.at(j) >= offer;
                                      });
  CHECK(open.given_away == std::vector<JobId>{came, archived, owed, settled});
  CHECK(open.failed == std::vector<JobId>{lost, went});
  REQUIRE(open.records.size() == 8);
  CHECK(std::get<JobOffered>(open.records[2]).to == me);
  CHECK(std::get<JobEnded>(open.records[3]).state.exit.log_tail == "nobody knows");
}

TEST_CASE(
    "a job that fails keeps what it has behind it; one that has moved is not spoken of again") {
  const AgentId me{0};
  JobAccepted came, moved;
  came.submit.spec.id = JobId{0, 1};
  came.submit.served = 5h;  // elsewhere
  moved.submit.spec.id = JobId{0, 2};
  const std::vector<Record> journal = {came, moved, JobOffered{JobId{0, 2}, AgentId{1}},
                                       JobMoved{JobId{0, 2}, AgentId{1}}};
  const OpenJobs open = end_open_jobs(me, journal, "nobody knows");
  CHECK(open.given_away.empty());
  REQUIRE(open.records.size() == 1);
  CHECK(std::get<JobEnded>(open.records[0]).state.served == 5h);
}

}  // namespace
}  // namespace starling
