// SPDX-License-Identifier: Apache-2.0
// What is over long ago is in the archive: it is answered from there as before, outlives restarts,
// and is forgotten by number, bytes and age, but never while another home may offer it again.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>

#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

Limits small_archive() {
  Limits limits;
  limits.archive_chunk_bytes = 300;
  return limits;
}

std::size_t count(const std::vector<std::string>& lines, const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const auto& line) { return line.find(text) != line.npos; }));
}

TEST_CASE("old jobs are answered from the archive as before, in every life") {
  TestFlock flock({.servers = 1, .limits = small_archive()});
  for (std::uint64_t n = 1; n <= 40; ++n) flock.submit(n, 4, 1s);
  REQUIRE(flock.settle(1h));
  flock.run_for(1s);
  for (const int life : {1, 2, 3}) {
    CAPTURE(life);
    const AgentState& s = flock.agent(0);
    CHECK(s.home.remembered.ended.size() < 10);
    CHECK(s.home.remembered.archive.jobs().size() + s.home.remembered.ended.size() == 40);
    CHECK(s.home.remembered.archive.chunks().size() > 5);
    CHECK(s.home.remembered.ended_bytes < 300);

    JobSpec again;
    again.id = JobId{0, 3};
    flock.ask(0, Submit{again, {}});
    flock.ask(0, Query{JobId{0, 4}});
    flock.ask(0, Cancel{JobId{0, 5}});
    flock.ask(0, Explain{JobId{0, 6}});
    flock.ask(0, ListJobs{JobId{0, 7}, 5});
    (void)flock.take_transcript();
    flock.run_for(1s);
    const auto lines = flock.take_transcript();
    for (const char* job :
         {"JobState job 3 finished", "JobState job 4 finished", "JobState job 5 finished"})
      CHECK(count(lines, job) == 1);
    CHECK(count(lines, "JobList 8 9 10 11 12") == 1);
    CHECK(count(lines, "finished after") == 1);
    CHECK(flock.launches() == 40);
    flock.crash_agent(0);
    flock.restart_agent(0, life == 1);
    flock.run_for(1s);
  }
  CHECK(flock.faults().empty());
}

TEST_CASE("a list goes through archive, memory and open jobs, page by page, each job once") {
  TestFlock flock({.servers = 1, .limits = small_archive()});
  for (std::uint64_t n = 1; n <= 200; ++n) flock.submit(n * 7919 % 211, 4, n < 190 ? 1s : 1h);
  flock.run_for(10min);
  REQUIRE(flock.agent(0).home.remembered.archive.jobs().size() > 150);
  REQUIRE(flock.agent(0).home.jobs.size() > 5);
  std::set<std::string> seen;
  JobId after{};
  for (int page = 0; page < 200; ++page) {
    flock.ask(0, ListJobs{after, 100});
    (void)flock.take_transcript();
    flock.run_for(10ms);
    std::string found;
    for (const std::string& line : flock.take_transcript()) {
      if (const auto at = line.find("JobList"); at != line.npos) found = line.substr(at + 8);
    }
    REQUIRE_FALSE(found.empty());
    std::istringstream words(found);
    std::uint64_t id = 0;
    while (words >> id) {
      CHECK(seen.insert(std::to_string(id)).second);
      after = JobId{0, id};
    }
    if (found.find("more") == found.npos) break;
  }
  CHECK(seen.size() == 200);
}

/// A flock whose agent 0 begins a life at this date.
void begin_at(TestFlock& flock, Duration date) {
  flock.crash_agent(0);
  flock.date_agent(0, date - flock.now().time_since_epoch());
  flock.restart_agent(0, true);
  flock.run_for(1s);
}

TEST_CASE("the archive forgets by age, and not what a machine without a date has dated") {
  constexpr Duration kToday = 24h * 365 * 55, kNoDate = 10s;
  for (const Duration then : {kToday, kNoDate}) {
    CAPTURE(then.count());
    TestFlock flock({.servers = 1, .limits = small_archive()});
    begin_at(flock, then);
    for (std::uint64_t n = 1; n <= 10; ++n) flock.submit(n, 4, 1s);
    REQUIRE(flock.settle(1h));
    flock.run_for(1s);
    const auto remembers = [&] { return flock.agent(0).home.remembered.is_over(JobId{0, 1}); };
    REQUIRE(flock.agent(0).home.remembered.archive.contains(JobId{0, 1}));
    begin_at(flock, kToday + 24h);
    CHECK(remembers());
    begin_at(flock, kToday + 24h * 89);
    CHECK(remembers());
    begin_at(flock, kToday + 24h * 92);
    CHECK(remembers() == (then == kNoDate));
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("the archive forgets its oldest jobs by number and by bytes") {
  for (const bool by_bytes : {false, true}) {
    CAPTURE(by_bytes);
    FlockOptions options{.servers = 1, .limits = small_archive()};
    if (by_bytes) options.limits.archive_bytes = 1600;
    if (!by_bytes) options.limits.jobs_remembered = 15;
    TestFlock flock(options);
    const AgentState& s = flock.agent(0);
    for (std::uint64_t n = 1; n <= 60; ++n) {
      flock.submit(n, 4, 1s);
      flock.run_for(2s);
      CAPTURE(n);
      if (by_bytes) CHECK(s.home.remembered.archive.bytes() <= 1600);
      CHECK(s.home.remembered.archive.jobs().size() + s.home.remembered.ended.size() <= 15);
      if (n < 10) CHECK(s.home.remembered.is_over(JobId{0, 1}));
    }
    CHECK(s.home.remembered.archive.jobs().size() > 5);
    CHECK(s.home.remembered.archive.contains(JobId{0, 55}));
    CHECK_FALSE(s.home.remembered.is_over(JobId{0, 1}));
    CHECK(flock.agent(0).home.remembered.archive.owed().empty());
    CHECK(flock.replayed_agent(0, false)->state().home.remembered.archive.jobs() ==
          s.home.remembered.archive.jobs());
    CHECK(flock.replayed_agent(0, true)->state().home.remembered.archive.jobs() ==
          s.home.remembered.archive.jobs());
  }
}

/// Agent 0, to which agent 1 gives jobs away; it remembers two.
struct Taker {
  explicit Taker(std::uint32_t chunk_bytes)
      : flock({.agents = 2, .servers = 2, .lossy = true, .limits = limits(chunk_bytes)}) {
    flock.run_for(5s);
    flock.cut_off(agent_node(AgentId{0}), agent_node(AgentId{1}));
  }
  static Limits limits(std::uint32_t chunk_bytes) {
    Limits limits;
    limits.jobs_remembered = 2;
    limits.archive_chunk_bytes = chunk_bytes;
    return limits;
  }
  /// As agent 1 does until it is answered.
  void offer(std::uint64_t n) {
    JobSpec spec;
    spec.id = JobId{0, n};
    spec.duration = 1s;
    flock.inject(0, agent_node(AgentId{1}), Submit{spec, NodeId{0}, 0s, 0s, 1});
  }
  TestFlock flock;
};

TEST_CASE("an offer that is repeated when its job is forgotten starts nothing") {
  std::uint32_t chunk_bytes = 0;
  SUBCASE("from the archive") { chunk_bytes = 1; }
  SUBCASE("before it gets there") { chunk_bytes = 64 * 1024; }
  Taker t(chunk_bytes);
  t.offer(1);
  t.flock.run_for(5s);
  t.flock.ask(0, Cancel{JobId{0, 1}});
  t.flock.run_for(5s);
  for (std::uint64_t n = 101; n <= 110; ++n) t.flock.submit(n, 1, 1s, 0);
  t.flock.run_for(3min);
  REQUIRE_FALSE(t.flock.agent(0).home.remembered.is_over(JobId{0, 1}));
  CHECK(t.flock.agent(0).home.remembered.archive.owed().size() == 1);
  const auto launches = t.flock.launches();
  for (const int life : {1, 2, 3}) {
    CAPTURE(life);
    (void)t.flock.take_transcript();
    t.offer(1);
    t.flock.run_for(5s);
    CHECK_FALSE(t.flock.agent(0).home.jobs.contains(JobId{0, 1}));
    CHECK(t.flock.launches() == launches);
    t.flock.crash_agent(0);
    t.flock.restart_agent(0, life == 1);
    t.flock.run_for(2s);
  }

  INFO("while the other home has it open it may offer it; afterwards no home will");
  JobState state;
  state.job = JobId{0, 1};
  state.phase = JobPhase::waiting;
  t.flock.run_for(2min);
  CHECK_FALSE(t.flock.agent(0).home.remembered.settling.empty());
  t.flock.inject(0, agent_node(AgentId{1}), state);
  CHECK(t.flock.agent(0).home.remembered.archive.owed().size() == 1);
  t.flock.run_for(2min);
  state.phase = JobPhase::moved;
  t.flock.inject(0, agent_node(AgentId{1}), state);
  CHECK(t.flock.agent(0).home.remembered.archive.owed().empty());
  CHECK(t.flock.replayed_agent(0, false)->state().home.remembered.archive.owed().empty());
}

TEST_CASE("homes that hear one another settle what they have forgotten") {
  FlockOptions options{.agents = 2, .servers = 2, .lossy = true, .limits = Taker::limits(1)};
  TestFlock flock(options);
  for (std::uint64_t n = 1; n <= 30; ++n) flock.submit(n, 4, 5s, 0);
  CHECK(flock.settle(30min));
  CHECK(flock.agent(0).counters.forwards > 3);
  flock.run_for(3min);
  for (const std::uint32_t a : {0U, 1U}) {
    CHECK(flock.agent(a).home.remembered.archive.owed().empty());
    CHECK(flock.agent(a).home.remembered.settling.empty());
  }
  CHECK(flock.faults().empty());
}

}  // namespace
}  // namespace starling
