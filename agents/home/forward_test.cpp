// SPDX-License-Identifier: Apache-2.0
// A job has one home at a time: handing it over neither loses nor doubles it.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("jobs go where there is room, and their clients learn where they are") {
  TestFlock flock({.agents = 2, .servers = 2});
  for (std::uint64_t n = 1; n <= 4; ++n) flock.submit(n, 2, 30s, 0);
  flock.run_for(1s);
  CHECK(flock.processes() == 4);
  CHECK(flock.agent(0).counters.forwards == 2);
  CHECK(flock.settle(5min));
  CHECK(flock.now() == Instant{} + 30s);
  CHECK(flock.client().find(JobId{0, 4})->state.forwards == 1);
  JobSpec moved;
  moved.id = flock.agent(0).home.remembered.moved.begin()->first;
  flock.ask(0, Query{moved.id});
  flock.ask(0, Submit{moved, {}});
  (void)flock.take_transcript();
  flock.run_for(1s);
  std::size_t redirects = 0;
  for (const std::string& line : flock.take_transcript()) {
    redirects += line.find("moved to agent 1") != line.npos ? 1U : 0U;
  }
  CHECK(redirects == 2);
}

TEST_CASE("a client's word cannot make a job that was given away run a second time") {
  TestFlock flock({.agents = 2, .servers = 2});
  for (std::uint64_t n = 1; n <= 4; ++n) flock.submit(n, 2, 30s, 0);
  flock.run_for(1s);
  REQUIRE(flock.agent(0).home.remembered.moved.size() == 2);
  Submit again;
  again.spec.id = flock.agent(0).home.remembered.moved.begin()->first;
  again.forwards = 9;
  flock.ask(0, again);
  flock.run_for(1s);
  CHECK_FALSE(flock.agent(0).home.jobs.contains(again.spec.id));
  CHECK(flock.settle(5min));
  CHECK(flock.launches() == 4);
  CHECK(flock.faults().empty());
}

TEST_CASE("what a job has behind it moves with it, and the next life of its home knows it") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
  flock.run_for(2s);
  Submit moved;
  moved.spec.id = JobId{0, 9};
  moved.spec.name = "moved";
  moved.spec.duration = 30s;
  moved.client = client_node(0);
  moved.waited = 50s;
  moved.served = 20s;
  moved.forwards = 1;
  moved.attempts = 4, moved.preemptions = 1, moved.begun = 5s;
  flock.inject(1, agent_node(AgentId{0}), moved);
  flock.run_for(10ms);
  const Job& job = flock.agent(1).home.jobs.at(moved.spec.id);
  CHECK(job.attempts == 5);
  CHECK(job.preemptions == 1);
  CHECK(job.first_start - job.submitted == 5s);
  flock.crash_agent(1);
  const auto next = flock.replayed_agent(1, false);
  CHECK(next->state().home.jobs.at(moved.spec.id).attempts == 5);
  flock.restart_agent(1);
  CHECK(flock.settle(5min));
  const JobState& over = flock.agent(1).home.remembered.ended.at(moved.spec.id);
  CHECK(over.attempts >= 5);
  CHECK(over.preemptions == 1);
  REQUIRE(over.ask != nullptr);
  CHECK(over.ask->name == "moved");
  CHECK(over.attempt_number != 0);
}

TEST_CASE("a lost Accepted, and a crash before or after it, keep the job in one place") {
  for (const bool before_sending : {false, true}) {
    for (std::uint64_t step = 1; step <= 40; ++step) {
      CAPTURE(step);
      CAPTURE(before_sending);
      TestFlock flock({.agents = 2, .servers = 2, .delay = 2ms, .lossy = true});
      flock.lose_next("Accepted", static_cast<std::uint32_t>(step % 3));
      flock.submit(1, 4, 60s, 0);
      flock.run_for(2s);
      flock.crash_agent_at(0, step, before_sending);
      flock.submit(2, 4, 10s, 0);
      for (int i = 0; i < 20; ++i) {
        flock.run_for(500ms);
        if (!flock.is_up(0)) flock.restart_agent(0, step % 2 == 0);
      }
      CHECK(flock.settle(30min));
      CHECK(flock.phase(2) == JobPhase::finished);
      CHECK(flock.faults().empty());
    }
  }
}

TEST_CASE("two homes of one life never give attempts the same number") {
  TestFlock flock({.agents = 4, .servers = 4});
  for (std::uint64_t n = 1; n <= 40; ++n) flock.submit(n, 1, 5s, static_cast<std::uint32_t>(n % 4));
  CHECK(flock.settle(1h));
  std::map<std::uint64_t, std::uint32_t> homes;
  for (std::uint32_t a = 0; a < 4; ++a) {
    for (const Record& record : flock.journal(a)) {
      if (const auto* starting = std::get_if<AttemptStarting>(&record))
        CHECK(homes.emplace(starting->attempt.number, a).second);
    }
  }
  CHECK(homes.size() >= 40);
}

TEST_CASE("a job that the next home refuses for good comes home and runs there") {
  TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms, .lossy = true});
  flock.run_for(2s);
  flock.submit(1, 4, 60s, 0);
  flock.run_for(2s);
  flock.cut(agent_node(AgentId{0}), agent_node(AgentId{1}));
  flock.submit(2, 4, 10s, 0);
  flock.run_for(2s);
  REQUIRE(flock.agent(0).home.jobs.at(JobId{0, 2}).stage() == Stage::offered);
  flock.mislead_agent(1);
  flock.crash_agent(1);
  flock.restart_agent(1);
  flock.run_for(2s);
  flock.heal();
  flock.lose_next("Submit", 2);  // first the two find out that they differ
  flock.run_for(30s);
  CHECK(flock.agent(0).home.jobs.at(JobId{0, 2}).stage() == Stage::waiting);
  flock.mislead_agent(1);
  flock.crash_agent(1);
  flock.restart_agent(1);
  CHECK(flock.settle(5min));
  CHECK(flock.phase(2) == JobPhase::finished);
  CHECK(flock.faults().empty());
}

/// Gives every job away as often as it may, and starts it now and then.
struct Restless : Policy {
  const PolicyFacts& facts() const noexcept override { return facts_; }
  std::vector<Decision> decide(const View& view, const Trigger&, Rng& rng) override {
    std::vector<Decision> out;
    Placement free;
    for (std::uint32_t g = view.gpus.gpus().first; g < view.gpus.gpus().last; ++g)
      if (view.gpus.has_room(GpuId{g})) free.push_back(GpuId{g});
    for (const JobView& job : view.waiting) {
      if (job.blocked) continue;
      const AgentId to{rng.below(3)};
      const auto gpus = static_cast<std::ptrdiff_t>(job.spec->gpus());
      if (rng.chance(job.forwards > 6 ? 0.2 : 0.01) && gpus <= std::ssize(free)) {
        out.emplace_back(Start{job.spec->id, Placement(free.begin(), free.begin() + gpus)});
        free.erase(free.begin(), free.begin() + gpus);
      } else if (to != view.me && std::ranges::find(job.offered, to) == job.offered.end()) {
        out.emplace_back(Forward{job.spec->id, to});
      }
    }
    asked_ = view.now;
    return out;
  }
  [[nodiscard]] Instant ask_again_at() const override { return later(asked_, 200ms); }

 private:
  Instant asked_;
  PolicyFacts facts_{.name = "restless", .summary = "for tests"};
};

TEST_CASE("a job that goes round and round, with words lost, repeated and late, has one home") {
  std::uint64_t again = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    FlockOptions options{.agents = 3, .servers = 3, .seed = seed, .delay = 2ms, .lossy = true};
    options.loss = 0.1, options.duplication = 0.2, options.jitter = 900ms;
    options.make_policy = [] { return std::make_unique<Restless>(); };
    if (seed % 4 == 0) options.protocol = kOfferProtocol - 1;
    TestFlock flock(options);
    for (std::uint32_t n = 1; n <= 6; ++n) flock.submit(n, 1 + n % 3, 5s, n % 3);
    for (std::uint32_t n = 0; n < 12; ++n) {
      flock.crash_agent_at(n % 3, 5 + 3 * n, n % 2 == 0);
      for (std::uint32_t i = 0; i < 3; ++i) {
        flock.run_for(2s);
        if (!flock.is_up(i)) flock.restart_agent(i, n % 4 < 2);
      }
    }
    flock.heal();
    CHECK(flock.settle(2h));
    CHECK(flock.client().counts().finished == 6);
    CHECK(flock.faults().empty());
    for (std::uint32_t a = 0; a < 3; ++a) {
      std::map<std::pair<JobId, AgentId>, int> offers;
      for (const Record& record : flock.journal(a)) {
        const auto* offered = std::get_if<JobOffered>(&record);
        if (offered != nullptr && offered->to != AgentId{a})
          again += ++offers[{offered->job, offered->to}] > 1 ? 1U : 0U;
      }
    }
  }
  CHECK(again > 50);
}

TEST_CASE("two full homes that have offered all their jobs to each other take them") {
  FlockOptions options{.agents = 2, .servers = 2, .lossy = true};
  options.limits.jobs_waiting = 2;
  TestFlock flock(options);
  flock.run_for(2s);
  flock.cut_off(agent_node(AgentId{0}), agent_node(AgentId{1}));
  // Each has no good GPU itself, and last heard that the other has four.
  for (std::uint32_t a : {0U, 1U})
    flock.set_sick(a, {GpuId{4 * a}, GpuId{4 * a + 1}, GpuId{4 * a + 2}, GpuId{4 * a + 3}});
  flock.run_for(100ms);
  for (std::uint64_t n = 1; n <= 4; ++n) flock.submit(n, 2, 10s, n % 2);
  flock.run_for(1s);
  for (std::uint32_t a : {0U, 1U}) {
    flock.set_sick(a, {});
    REQUIRE(flock.agent(a).home.jobs.size() == 2);
    for (const auto& [id, job] : flock.agent(a).home.jobs) REQUIRE(job.stage() == Stage::offered);
  }
  flock.heal();
  CHECK(flock.settle(5min));
  CHECK(flock.client().counts().finished == 4);
  CHECK(flock.faults().empty());
}

TEST_CASE("a home does not offer a job twice to the same home before it has come back") {
  TestFlock flock({.agents = 2, .servers = 2});
  flock.run_for(1s);
  for (std::uint64_t n = 1; n <= 30; ++n) flock.submit(n, 1 + n % 4, 20s, n % 2);
  CHECK(flock.settle(2h));
  for (std::uint32_t a = 0; a < 2; ++a) {
    std::map<JobId, int> offers;
    for (const Record& record : flock.journal(a)) {
      if (const auto* came = std::get_if<JobAccepted>(&record)) offers.erase(came->submit.spec.id);
      if (const auto* offered = std::get_if<JobOffered>(&record))
        CHECK(++offers[offered->job] == 1);
    }
  }
}

}  // namespace
}  // namespace starling
