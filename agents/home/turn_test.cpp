// SPDX-License-Identifier: Apache-2.0
// A stream of small jobs that never ends keeps every partition busy. A gang that needs all of them
// starts all the same, under every policy, within the bound that turn.cpp states.
#include "agents/home/turn.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "agents/explain/describe.h"
#include "agents/explain/explain_turn.h"
#include "agents/home/scripted_home_test.h"
#include "agents/step/step.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kGang = 1000;
constexpr Duration kLongest = 40s;  // of the small jobs

/// At both homes more small jobs wait than there is room for, at every moment.
struct Stream {
  explicit Stream(const std::string& policy, std::uint32_t partitions = 2,
                  std::uint32_t servers = 2)
      : flock({.agents = partitions,
               .servers = std::max(partitions, servers),
               .policy = policy,
               .delay = 1ms,
               .jitter = 2ms,
               .lossy = true}),
        agents(partitions) {
    for (int i = 0; i < 12; ++i) small();
    flock.run_for(10s);
  }
  void small() {
    ++n;
    flock.submit(n, 1, std::chrono::seconds(20 + n * 7 % 21),
                 static_cast<std::uint32_t>(n % agents));
  }
  /// One small job more a second and agent than ends in that time.
  void go_on(Duration d) {
    for (const Instant end = flock.now() + d; flock.now() < end;) {
      for (std::uint32_t i = 0; i < agents; ++i) {
        const AgentState& state = flock.agent(i);
        for (std::uint32_t w = state.home.waiting_jobs(); w < 4; ++w) small();
      }
      flock.run_for(1s);
    }
  }
  [[nodiscard]] bool started(std::uint64_t job) const {
    return flock.phase(job) == JobPhase::running || terminal(flock.phase(job));
  }
  TestFlock flock;
  std::uint32_t agents;
  std::uint64_t n = 0;
};

TEST_CASE("small jobs starve no gang, whatever the policy") {
  std::uint64_t sample = 0;
  const PolicyRegistry policies = make_policy_registry();
  for (const auto& [name, entry] : policies.entries()) {
    if (entry.facts.needs_model_file || !is_sampled(sample++)) continue;
    CAPTURE(name);
    Stream stream(name);
    stream.flock.submit(kGang, 8, 10s, 0);
    const Instant submitted = stream.flock.now();
    stream.go_on(5min);
    const bool soon = stream.started(kGang);  // the policy makes room by itself
    Duration waited = 5min;
    for (; !stream.started(kGang) && waited < 1h; waited += 5s) stream.go_on(5s);
    CHECK(stream.started(kGang));
    if (!soon) CHECK(stream.flock.now() - submitted <= 10min + turn_bound(kLongest));
    stream.go_on(1min);
    CHECK(stream.flock.phase(kGang) == JobPhase::finished);
    CHECK(stream.flock.faults().empty());
    CHECK(over_limits(stream.flock.agent(0)).value_or("") == "");
  }
}

TEST_CASE("without its turn the gang would wait: the stream leaves no gap") {
  Stream stream("fifo:queue=skip");
  stream.flock.submit(kGang, 8, 10s, 0);
  for (int i = 0; i < 9 * 60; ++i) {
    stream.go_on(1s);
    REQUIRE_FALSE(stream.started(kGang));
  }
}

TEST_CASE("a turn keeps as many servers as the gang needs, and all others go on") {
  Stream stream("fifo:queue=skip", 2, 8);
  stream.go_on(1min);                     // until all are busy
  stream.flock.submit(kGang, 8, 10s, 0);  // two of the four servers of its home
  const AgentState& owner = stream.flock.agent(0);
  int kept = 0, digests = 0, begun = 0;
  for (int i = 0; i < 20 * 60 && !stream.started(kGang); ++i) {
    const std::uint64_t attempts = owner.home.attempts_opened;
    stream.go_on(1s);
    if (!owner.owner.claim) continue;
    REQUIRE(owner.owner.claim->kept.servers().size() == 2);
    ++kept;
    begun += static_cast<int>(owner.home.attempts_opened - attempts);
    const auto& told = stream.flock.agent(1).flock.peers[0].digest;
    digests += told && told->free == 0 && owner.owner.ledger.free_count() > 0 ? 1 : 0;
  }
  CHECK(stream.started(kGang));
  CHECK(kept > 10);
  CHECK(begun > kept / 4);  // small jobs, which take half a minute on eight GPUs
  CHECK(digests > 0);       // no digest tells of what is kept
  CHECK(stream.flock.faults().empty());
}

TEST_CASE("two gangs that need everything both get it, and small jobs go on in between") {
  Stream stream("fifo:queue=skip", 3);
  stream.flock.submit(kGang, 12, 10s, 0);
  stream.flock.submit(kGang + 1, 12, 10s, 2);
  const std::uint64_t before = stream.flock.client().counts().finished;
  Duration waited{0};
  while (waited < 1h && !(stream.started(kGang) && stream.started(kGang + 1))) {
    stream.go_on(10s);
    waited += 10s;
  }
  CHECK(stream.started(kGang));
  CHECK(stream.started(kGang + 1));
  CHECK(stream.flock.client().counts().finished > before + 100);
  CHECK(stream.flock.faults().empty());
}

TEST_CASE("a home that dies in its gang's turn leaves no partition closed") {
  Stream stream("fifo:queue=skip");
  stream.flock.submit(kGang, 8, 10s, 0);
  for (int i = 0; i < 900 && !stream.flock.agent(1).owner.claim; ++i) stream.go_on(1s);
  REQUIRE(stream.flock.agent(1).owner.claim);
  stream.flock.crash_agent(0);
  stream.flock.run_for(11s);
  CHECK_FALSE(stream.flock.agent(1).owner.claim);
  stream.flock.restart_agent(0);
  stream.go_on(20min);
  CHECK(stream.flock.phase(kGang) == JobPhase::finished);
  CHECK(stream.flock.faults().empty());
}

TEST_CASE("nor does a home that dies early in a long turn") {
  Stream stream("fifo:queue=skip");
  stream.flock.submit(kGang, 8, 10s, 0);
  const auto late_turn = [&] {
    const auto& jobs = stream.flock.agent(0).home.jobs;
    const auto gang = jobs.find(JobId{0, kGang});
    return gang != jobs.end() && gang->second.turns >= 2 &&
           gang->second.stage() == Stage::bidding && stream.flock.agent(1).owner.claim;
  };
  for (int i = 0; i < 900 && !late_turn(); ++i) stream.go_on(1s);
  REQUIRE(late_turn());
  stream.flock.crash_agent(0);
  stream.flock.run_for(11s);
  CHECK_FALSE(stream.flock.agent(1).owner.claim);
}

TEST_CASE("no gang claims a partition whose owner speaks a protocol without turns") {
  for (const std::uint32_t home : {0U, 1U}) {
    TestFlock flock({.agents = 2,
                     .servers = 2,
                     .policy = "fifo:queue=skip",
                     .delay = 1ms,
                     .lossy = true,
                     .protocol = 1});
    for (std::uint64_t n = 1; n <= 2; ++n)
      flock.submit(n, 4, 15min, static_cast<std::uint32_t>(n - 1));
    flock.submit(kGang, 8, 10s, home);
    for (int i = 0; i < 14 * 60; ++i) {
      flock.run_for(1s);
      REQUIRE_FALSE(flock.agent(0).owner.claim);
      REQUIRE_FALSE(flock.agent(1).owner.claim);
    }
    CHECK(flock.settle(1h));
    CHECK(flock.phase(kGang) == JobPhase::finished);
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("where a GPU is out of service no gang waits for all of them") {
  Stream stream("fifo:queue=skip");
  stream.flock.crash_executor(1);
  stream.flock.submit(kGang, 8, 10s, 0);
  int closed = 0;
  for (int i = 0; i < 30 * 60; ++i) {
    stream.go_on(1s);
    closed += stream.flock.agent(0).owner.claim ? 1 : 0;
  }
  CHECK(closed < 5 * 60);
  CHECK_FALSE(stream.started(kGang));
  stream.flock.restart_executor(1);
  stream.go_on(10min);
  CHECK(stream.flock.phase(kGang) == JobPhase::finished);
}

TEST_CASE("a job that may not move on leaves a home whose machines are gone by its turn") {
  TestFlock flock(
      {.agents = 2, .servers = 2, .policy = "fifo:queue=skip", .delay = 1ms, .lossy = true});
  flock.run_for(5s);
  flock.crash_executor(0);
  JobSpec spec;
  spec.id = {0, kGang};
  spec.workers = 2;
  spec.duration = 10s;
  flock.tell(agent_node(AgentId{1}), agent_node(AgentId{0}),
             Submit{spec, client_node(0), 0s, 0s, 8});
  flock.run_for(15min);
  // At home by a turn over both partitions, or where it moved after all.
  const std::uint32_t last = flock.agent(0).home.remembered.ended.contains(spec.id) ? 0 : 1;
  REQUIRE(flock.agent(last).home.remembered.ended.contains(spec.id));
  CHECK(flock.agent(last).home.remembered.ended.at(spec.id).phase == JobPhase::finished);
  CHECK(flock.faults().empty());
}

TEST_CASE("a gang claims no partition that cannot give anything, but those that can") {
  Stream stream("fifo:queue=skip", 3);
  stream.flock.crash_executor(0);
  stream.flock.submit(kGang, 8, 10s, 0);
  Duration waited{0};
  for (; waited < 1h && !stream.started(kGang); waited += 5s) stream.go_on(5s);
  CHECK(stream.started(kGang));
  CHECK(stream.flock.faults().empty());
}

TEST_CASE("an owner that is not ready, whatever it had told, is passed over for a while") {
  Stream stream("fifo:queue=skip", 3);
  stream.flock.crash_executor(1);
  const AgentState& owner = stream.flock.agent(1);
  Digest untrue{owner.fence(), ~0ULL, owner.owner.partition.gpus.size()};
  untrue.free = untrue.largest_free_server = 1;
  stream.flock.inject(0, agent_node(AgentId{1}), untrue);
  stream.flock.submit(kGang, 8, 10s, 0);
  Duration waited{0};
  for (; waited < 1h && !stream.started(kGang); waited += 5s) stream.go_on(5s);
  CHECK(stream.started(kGang));
  CHECK(stream.flock.faults().empty());
}

// One agent, and a gang as wide as the cluster that fits into its partition: no agent has to be
// asked, and still there is never room for it at once.
TEST_CASE("small jobs starve no gang in a flock of one") {
  std::uint64_t sample = 0;
  const PolicyRegistry policies = make_policy_registry();
  for (const auto& [name, entry] : policies.entries()) {
    if (entry.facts.needs_model_file || !is_sampled(sample++)) continue;
    CAPTURE(name);
    Stream stream(name, 1);
    stream.flock.submit(kGang, 4 * stream.flock.agent(0).owner.partition.servers.size(), 10s, 0);
    const Instant submitted = stream.flock.now();
    Duration waited{0};
    for (; !stream.started(kGang) && waited < 1h; waited += 5s) stream.go_on(5s);
    REQUIRE(stream.started(kGang));
    CHECK(stream.flock.now() - submitted <= kGangPatience + turn_bound(kLongest));
    stream.go_on(1min);
    CHECK(stream.flock.phase(kGang) == JobPhase::finished);
    CHECK(stream.flock.faults().empty());
  }
}

TEST_CASE("no job takes a turn that is not passed by, or by the more urgent alone") {
  Stream stream("fifo:queue=skip", 1);
  for (const bool urgent : {false, true}) {
    JobSpec spec;
    spec.id = JobId{0, kGang + (urgent ? 1U : 0U)};
    spec.workers = 4 * stream.flock.agent(0).owner.partition.servers.size();
    spec.duration = 10s;
    spec.priority = urgent ? 0 : -1;
    stream.flock.submit(spec, 0);
  }
  // The stream is of priority 0: it passes by both, and one of them for good.
  for (int i = 0; i < 30; ++i) stream.go_on(1min);
  CHECK(stream.flock.phase(kGang + 1) == JobPhase::finished);
  CHECK_FALSE(stream.started(kGang));
}

TEST_CASE("beside free GPUs a job waits for servers that are gone until its turn, and no longer") {
  for (const bool gone : {false, true}) {
    CAPTURE(gone);
    AgentConfig config;
    config.timers.heartbeat = kPatience;
    ScriptedHome home(1, config);  // whose policy starts nothing
    home.submit(1, 2);
    if (gone) home.hear(executor_node(0), GpuHealth{++home.health, {GpuId{3}}});
    home.tick(kPatience - 1min);
    CHECK(home.last<Launch>() == nullptr);
    CHECK(explain_turn(home.state(), home.job(1), home.now).empty() == !gone);
    home.tick(1min);
    CHECK((home.last<Launch>() != nullptr) == gone);
  }
}

TEST_CASE("a job is told which jobs pass it by, and when its turn comes") {
  Stream stream("fifo:queue=skip", 1);
  const std::uint64_t before = stream.n;
  stream.flock.submit(kGang, 4 * stream.flock.agent(0).owner.partition.servers.size(), 10s, 0);
  stream.go_on(5min);
  std::string text;
  const Job& job = stream.flock.agent(0).home.jobs.at(JobId{0, kGang});
  std::uint64_t passed = 0;
  for (std::uint64_t n = before + 1; n <= stream.n; ++n) passed += stream.started(n) ? 1 : 0;
  for (const std::string& line : explain_turn(stream.flock.agent(0), job, stream.flock.now()))
    text += line + '\n';
  CAPTURE(text);
  CHECK(text.starts_with("is passed by: " + std::to_string(passed) +
                         " jobs that came after it wait no longer\n"));
  CHECK(text.find("its turns begin in ") != std::string::npos);
  CHECK(text.find(" at the latest, if the jobs that run keep to their estimates") !=
        std::string::npos);
}

TEST_CASE(
    "a job that waits beside free GPUs kept for a turn is told for which job and until when") {
  for (const char* policy : {"smart-greedy", "fifo:queue=skip"}) {
    CAPTURE(policy);
    Stream stream(policy, 1);
    stream.flock.submit(kGang, 4 * stream.flock.agent(0).owner.partition.servers.size(), 10s, 0);
    bool told = false;
    for (Duration waited{0}; !told && waited < 1h; waited += 1s) {
      stream.go_on(1s);
      if (stream.flock.agent(0).owner.ledger.free_count() == 0 || stream.started(kGang)) continue;
      for (const auto& [id, job] : stream.flock.agent(0).home.jobs) {
        if (job.stage() != Stage::waiting || id == JobId{0, kGang}) continue;
        auto& state = const_cast<AgentState&>(stream.flock.agent(0));
        for (const std::string& line : explain(state, id, stream.flock.now())) {
          told =
              told || (line.starts_with("partition 0 keeps 2 servers for " +
                                        to_string(JobId{0, kGang}) + ", whose turn it is, for ") &&
                       line.ends_with(" s more at most"));
        }
      }
    }
    CHECK(told);
  }
}

}  // namespace
}  // namespace starling
