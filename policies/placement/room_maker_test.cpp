// SPDX-License-Identifier: Apache-2.0
// Options beyond what is free: others stop for a more urgent job, and elastic jobs start smaller.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "policies/placement/placement_policy.h"
#include "policies/registry.h"
#include "policies/testing/battery.h"
#include "policies/testing/policy_rig.h"
#include "policies/testing/test_aborts.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

Topology servers(std::uint32_t count, std::uint32_t gpus) {
  GeneratorOptions options;
  options.groups = {{count, "V100"}};
  options.gpus_per_server = gpus;
  return generate_flat(options).value();
}

JobSpec job(std::uint32_t gpus, std::int32_t priority = 0) {
  JobSpec spec;
  spec.workers = gpus;
  spec.model = "resnet50";
  spec.priority = priority;
  return spec;
}

JobSpec elastic(std::uint32_t gpus, std::uint32_t least) {
  JobSpec spec = job(gpus);
  spec.min_workers = least;
  spec.max_workers = gpus;
  return spec;
}

struct Rig : PolicyRig {
  explicit Rig(const std::string& text, std::uint32_t count = 1, std::uint32_t each = 4)
      : PolicyRig(servers(count, each), make_policy_registry().make(text).value()) {}
  /// GPUs of the i-th job, as submitted.
  [[nodiscard]] std::size_t gpus_of(std::uint64_t i) const {
    for (const JobView& one : jobs) {
      if (one.spec->id == JobId{1, i}) return one.placement.size();
    }
    return 0;
  }
  [[nodiscard]] std::string why(std::uint64_t i) const {
    std::string all;
    for (const std::string& line : policy->explain(JobId{1, i})) all += line + '\n';
    return all;
  }
};

bool is_stop_of(const Decision& decision, std::uint64_t i) {
  const auto* stop = std::get_if<Preempt>(&decision);
  return stop != nullptr && stop->job == JobId{1, i};
}

TEST_CASE(
    "a job of a higher priority that finds no place stops the least urgent, the latest first") {
  for (const char* name : {"consolidate", "lif", "smart-greedy", "load-balance", "tetris"}) {
    CAPTURE(name);
    Rig rig(std::string(name) + ":may=order");
    rig.submit(job(2, 1));
    rig.submit(job(1));
    rig.settle(TriggerKind::arrival);
    rig.submit(job(1));
    rig.settle(TriggerKind::arrival);
    rig.submit(job(1, 2));
    const auto said = rig.settle(TriggerKind::arrival);
    REQUIRE(said.size() == 2);
    CHECK(is_stop_of(said[0], 3));
    CHECK(rig.gpus_of(4) == 1);
    CHECK(rig.gpus_of(3) == 0);  // and waits, behind it
    CHECK((rig.gpus_of(1) == 2 && rig.gpus_of(2) == 1));
  }
}

TEST_CASE("what was promised comes before anything that starts") {
  const Topology topology = servers(1, 4);
  const Occupancy gpus(topology, {0, 1});
  const CrowdedSpeed speed(topology);
  const View view{topology, gpus, {}, {}, {}, speed, Instant{}, AgentId{0}};
  QueueWalk walk({}, [](const JobView&) { return 0; });
  CandidateMemory memory;
  Candidates candidates = memory.sync(view, false);
  Mirror mirror;
  Trial trial(mirror, gpus);
  std::vector<Decision> out;
  RoomMaker rooms({.stops = true});
  rooms.begin({view, walk, candidates, trial, out});
  trial.take(Placement{GpuId{0}});
  CHECK(aborts([&] { rooms.begin({view, walk, candidates, trial, out}); }));
}

TEST_CASE("what a job was promised is kept until those that have it are gone") {
  Rig rig("consolidate:may=order");
  rig.submit(job(2));
  rig.settle(TriggerKind::arrival);
  rig.submit(job(4, 1));
  const auto said = rig.decide(TriggerKind::arrival);
  REQUIRE(said.size() == 1);
  CHECK(is_stop_of(said[0], 1));
  CHECK(rig.why(2).find("4 from GPU 0, once 1 job of a lower priority has stopped") !=
        std::string::npos);
  // It has not stopped yet. A job that would fit beside it comes.
  rig.submit(job(2));
  CHECK(rig.decide(TriggerKind::arrival).empty());
  SUBCASE("then it starts there") {
    rig.apply(said[0]);
    rig.settle(TriggerKind::departure);
    CHECK(rig.gpus_of(2) == 4);
    CHECK(rig.gpus_of(3) == 0);
  }
  SUBCASE("where the core does not stop it nothing is kept, and it is asked again") {
    rig.policy->refused({said[0], DecisionFault::keep_running});
    rig.end(1);
    CHECK(rig.settle(TriggerKind::departure).size() == 1);
    CHECK(rig.gpus_of(3) == 2);
  }
  SUBCASE("or ten minutes have passed") {
    rig.pass(11min);
    const auto later = rig.decide(TriggerKind::digest);
    REQUIRE(later.size() == 1);
    CHECK(std::get<Start>(later[0]).job == JobId{1, 3});
  }
  SUBCASE("or the job is cancelled") {
    rig.end(1);
    rig.settle(TriggerKind::departure);
    CHECK(rig.gpus_of(3) == 2);
  }
}

TEST_CASE("a promise on a server that is drained is given up") {
  Rig rig("consolidate:may=order", 2);
  rig.submit(job(3));
  rig.settle(TriggerKind::arrival);
  rig.submit(job(3, 5));
  rig.settle(TriggerKind::arrival);
  rig.submit(job(4, 1));
  const auto said = rig.decide(TriggerKind::arrival);
  REQUIRE(said.size() == 1);
  CHECK(is_stop_of(said[0], 1));
  rig.apply(said[0]);
  rig.gpus.block({0, 1});
  rig.settle(TriggerKind::departure);
  CHECK(rig.gpus_of(3) == 0);
  rig.end(1);
  rig.settle(TriggerKind::departure);
  CHECK(rig.gpus_of(3) == 4);  // on the other server, and not kept for the first
}

TEST_CASE("no job stops for an equal one, nor one that may not be stopped, nor unless it helps") {
  SUBCASE("an equal one") {
    Rig rig("consolidate:may=order");
    rig.submit(job(4));
    rig.settle(TriggerKind::arrival);
    rig.submit(job(4));
    CHECK(rig.settle(TriggerKind::arrival).empty());
  }
  SUBCASE("may=place") {
    Rig rig("consolidate");
    rig.submit(job(4));
    rig.settle(TriggerKind::arrival);
    rig.submit(job(4, 1));
    CHECK(rig.settle(TriggerKind::arrival).empty());
  }
  SUBCASE("one that is never started again") {
    Rig rig("consolidate:may=order");
    JobSpec once = job(4);
    once.no_requeue = true;
    rig.submit(once);
    rig.settle(TriggerKind::arrival);
    rig.submit(job(4, 1));
    CHECK(rig.settle(TriggerKind::arrival).empty());
  }
  SUBCASE("one whose GPUs would not be enough") {
    Rig rig("consolidate:may=order");
    rig.submit(job(3, 1));
    rig.submit(job(1));
    rig.settle(TriggerKind::arrival);
    rig.submit(job(2, 1));
    CHECK(rig.settle(TriggerKind::arrival).empty());
  }
  SUBCASE("one that the place does not need") {
    Rig rig("consolidate:may=order", 2);
    rig.submit(job(4));
    rig.settle(TriggerKind::arrival);
    rig.submit(job(1));
    rig.settle(TriggerKind::arrival);
    rig.submit(job(4, 1));  // the latest is stopped, and the three beside it are free
    const auto said = rig.settle(TriggerKind::arrival);
    CHECK(is_stop_of(said.front(), 2));
    CHECK(rig.gpus_of(1) == 4);
    CHECK(rig.gpus_of(3) == 4);
  }
}

TEST_CASE("an elastic job starts with what there is, and is resized when no job wants the rest") {
  Rig rig("consolidate:may=resize");
  rig.submit(job(2));
  rig.settle(TriggerKind::arrival);
  rig.submit(elastic(4, 1));
  rig.settle(TriggerKind::arrival);
  CHECK(rig.gpus_of(2) == 2);
  rig.end(0);
  CHECK(rig.settle(TriggerKind::departure).empty());  // a restart has to pay for itself
  rig.pass(11min);
  SUBCASE("it grows") {
    const auto said = rig.settle(TriggerKind::round);
    REQUIRE(said.size() == 1);
    CHECK(std::holds_alternative<Resize>(said[0]));
    CHECK(rig.gpus_of(2) == 4);
    CHECK(rig.why(2).find("stop, and start with all it asks for: 4 from GPU 0") !=
          std::string::npos);
    rig.pass(1min);
    CHECK(rig.settle(TriggerKind::round).empty());
  }
  SUBCASE("a job waits") {
    rig.submit(job(3));
    CHECK(rig.settle(TriggerKind::arrival).empty());
    CHECK(rig.gpus_of(2) == 2);
  }
  SUBCASE("refused") {
    const auto said = rig.decide(TriggerKind::round);
    REQUIRE(said.size() == 1);
    CHECK(rig.decide(TriggerKind::round).empty());  // promised
    rig.policy->refused({said[0], DecisionFault::reserved});
    rig.decide(TriggerKind::round);
    rig.pass(11min);
    CHECK(rig.decide(TriggerKind::round).size() == 1);
  }
}

TEST_CASE("an elastic job has no fewer workers than its least, and a rigid one no fewer than all") {
  Rig rig("consolidate:may=resize");
  rig.submit(job(3));
  rig.settle(TriggerKind::arrival);
  rig.submit(elastic(4, 2));
  rig.submit(job(2));
  CHECK(rig.settle(TriggerKind::arrival).empty());
}

TEST_CASE("a chooser that asks for it decides whether jobs stop") {
  struct Never final : Chooser {
    std::size_t choose(const DecisionPoint& point, std::span<const double> scores) override {
      if (point.options.front().kind != OptionKind::stop_and_start) return best_of(scores);
      ++asked;
      return 1;
    }
    [[nodiscard]] bool makes_room() const override { return true; }
    int asked = 0;
  } never;
  auto system = make_policy_registry().make_placement("consolidate:may=order").value();
  PolicyRig rig(servers(1, 4), std::make_unique<PlacementPolicy>(std::move(system), &never));
  rig.submit(job(4));
  rig.settle(TriggerKind::arrival);
  rig.submit(job(4, 1));
  CHECK(rig.settle(TriggerKind::arrival).empty());
  CHECK(never.asked == 1);
}

TEST_CASE("policies that stop and resize hold what every policy must") {
  const PolicyRegistry registry = make_policy_registry();
  for (const char* text : {"consolidate:may=order", "consolidate:may=resize", "lif:may=resize",
                           "smart-greedy:may=resize", "load-balance:may=order", "tetris:may=resize",
                           "lif:threshold=0.3,order=forecast,may=resize"}) {
    run_policy_battery(registry, text, true);
    run_policy_battery(registry, text);
  }
}

TEST_CASE("among jobs of many priorities all run in the end, and some were stopped") {
  const PolicyRegistry registry = make_policy_registry();
  const Topology topology = servers(6, 4);
  for (const char* text : {"consolidate:may=order", "lif:may=resize"}) {
    for (std::uint32_t agents : {1U, 3U}) {
      CAPTURE(text);
      CAPTURE(agents);
      Trace trace = battery_trace(Rng(7), 150, topology);
      Rng rng(8);
      for (TraceJob& one : trace.jobs) {
        one.spec.priority = static_cast<std::int32_t>(rng.below(4));
        one.spec.no_requeue = rng.chance(0.2);
      }
      TestWorld world(topology, registry, text, {agents, 3, 0.1, nullptr});
      world.run(trace);
      CHECK_MESSAGE(world.faults.empty(), (world.faults.empty() ? "" : world.faults.front()));
      CHECK(world.preemptions > 0);
      for (const TestWorld::Job& one : world.jobs) CHECK(one.finished != kNever);
    }
  }
}

}  // namespace
}  // namespace starling
