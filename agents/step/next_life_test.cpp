// SPDX-License-Identifier: Apache-2.0
// What one life has counted the next one goes on with: how long a job has waited, by a calendar
// that may jump, and how often it was preempted.
#include <doctest/doctest.h>

#include "agents/agent/agent.h"
#include "agents/step/state.h"
#include "interference/models.h"
#include "policies/registry.h"
#include "topology/generate/generate.h"
#include "topology/partition.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr JobId kOld{0, 1}, kYoung{0, 2};
constexpr Duration kDay = 24h, kThen = 50 * 365 * kDay;

/// A home that took two jobs, an hour apart; its next life begins with another calendar.
struct Home {
  explicit Home(Duration calendar) {
    std::vector<Record> journal{LifeBegan{Incarnation{1}, Epoch{1}}};
    std::uint64_t order = 0;
    for (const JobId id : {kOld, kYoung}) {
      Submit submit;
      submit.spec.id = id;
      submit.spec.workers = 2;  // more than there is
      journal.emplace_back(JobAccepted{submit, ++order});
      JobPast past;
      past.job = id;
      past.submitted = kThen + (id == kOld ? 0h : 1h);
      journal.emplace_back(past);
    }
    AgentConfig config;
    const Partition part = partition(topology, 1).value().front();
    config.flock = {{AgentId{0}, part}};
    config.executors = {{executor_node(0), {0, 1}}};
    config.incarnation = Incarnation{2};
    config.calendar = calendar;
    agent = std::make_unique<Agent>(config, topology, *speed,
                                    make_policy_registry().make("fifo").value(), Rng(1), journal);
    Output out;
    agent->step(Instant(5s), Tick{}, out);
  }
  [[nodiscard]] Duration age(JobId job) const {
    return Instant(5s) - agent->state().home.jobs.at(job).submitted;
  }

  Topology topology = generate_flat({.servers = 1, .gpus_per_server = 1}).value();
  std::unique_ptr<SpeedModel> speed = make_flat_speed();
  std::unique_ptr<Agent> agent;
};

TEST_CASE("a calendar that has gone back leaves jobs the time between them") {
  for (const Duration calendar : {kThen - kDay, Duration{0}, kThen + 30min}) {
    const Home home(calendar);
    CHECK(home.age(kYoung) >= 0s);
    CHECK(home.age(kOld) - home.age(kYoung) == 1h);
    CHECK(home.agent->config().calendar.value() >= kThen + 1h - 5s);
  }
}

TEST_CASE("a calendar that is right, or ahead, is taken") {
  const Home right(kThen + 2h), ahead(kThen + kDay);
  CHECK(right.age(kOld) == 2h + 5s);
  CHECK(right.age(kYoung) == 1h + 5s);
  CHECK(ahead.age(kOld) - ahead.age(kYoung) == 1h);
}

TEST_CASE("a calendar behind a job's first start, or behind the end of an attempt, has gone back") {
  Home home(kThen);
  AgentConfig config = home.agent->config();
  config.calendar = kThen + 30min;
  Submit submit;
  submit.spec.id = kOld;
  submit.spec.workers = 2;  // more than there is
  JobPast past;
  past.job = kOld;
  past.submitted = kThen;
  past.attempts = 1;
  SUBCASE("the first start") { past.first_start = kThen + 1h; }
  SUBCASE("the end of an attempt") { past.waits_since = kThen + 1h; }
  const std::vector<Record> journal{LifeBegan{Incarnation{1}, Epoch{1}}, JobAccepted{submit, 1},
                                    past};
  Agent next(config, home.topology, *home.speed, make_policy_registry().make("fifo").value(),
             Rng(1), journal);
  Output out;
  next.step(Instant(5s), Tick{}, out);
  CHECK(Instant(5s) - next.state().home.jobs.at(kOld).submitted == 1h);
  CHECK(next.config().calendar.value() == kThen + 1h - 5s);
}

TEST_CASE("without a calendar a job goes on from what it had waited for at the home before") {
  Home home(kThen);
  Submit submit;
  submit.spec.id = kOld;
  submit.waited = 1h;
  AgentConfig config = home.agent->config();
  config.calendar.reset();
  const std::vector<Record> journal{LifeBegan{Incarnation{1}, Epoch{1}}, JobAccepted{submit, 1}};
  Agent next(config, home.topology, *home.speed, make_policy_registry().make("fifo").value(),
             Rng(1), journal);
  Output out;
  next.step(Instant(48h), Tick{}, out);
  CHECK(Instant(48h) - next.state().home.jobs.at(kOld).submitted == 1h);
}

TEST_CASE("what is over in one life is refused in the next one for as long as in the first") {
  Home home(kThen);
  const AttemptId over{kOld, Epoch{1}, 7};
  Agent next(home.agent->config(), home.topology, *home.speed,
             make_policy_registry().make("fifo").value(), Rng(1),
             std::vector<Record>{LifeBegan{Incarnation{1}, Epoch{1}}, ShareReleased{over}});
  const Instant begins(48h);
  const Duration kept = next.config().timers.retention;
  Output out;
  for (const Duration after : {0min, 2min, 30min}) {
    next.step(begins + after, Tick{}, out);
    CHECK(next.state().owner.ledger.tombstones().contains(over));
  }
  next.step(begins + kept + 2min, Tick{}, out);
  CHECK_FALSE(next.state().owner.ledger.tombstones().contains(over));
}

TEST_CASE("a preemption that one life has decided and the next one ends counts once") {
  Home home(kThen + 2h);
  const Share share{PartitionId{0}, {GpuId{0}}};
  const AttemptId attempt{kOld, Epoch{1}, 7};
  Submit submit;
  submit.spec.id = kOld;
  const std::vector<Record> journal{LifeBegan{Incarnation{1}, Epoch{1}}, JobAccepted{submit, 1},
                                    AttemptStarting{attempt, {share}}, AttemptDraining{attempt}};
  Agent next(home.agent->config(), home.topology, *home.speed,
             make_policy_registry().make("fifo").value(), Rng(1), journal);
  const auto none_in = [](const std::vector<Record>& snapshot) {
    for (const Record& record : snapshot) {
      if (const auto* past = std::get_if<JobPast>(&record)) CHECK(past->preemptions == 0);
    }
  };
  none_in(next.snapshot());  // as when the journal gets other numbers, before the life begins
  Output out;
  next.step(Instant(5s), Tick{}, out);
  CHECK(next.state().home.jobs.at(kOld).preemptions == 1);
  none_in(next.snapshot());
}

}  // namespace
}  // namespace starling
