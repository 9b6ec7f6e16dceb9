// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/chaos.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "gnn/wiring/registry.h"
#include "sim/chaos/chaos_faults.h"
#include "sim/chaos/chaos_shrink.h"
#include "sim/test_registry.h"

namespace starling {
namespace {

TEST_CASE("sixty seeds of faults break no rule, and every kind of fault happens") {
  ChaosOptions options;
  options.seeds = 60;
  options.faults_last = std::chrono::minutes(4);
  const ChaosReport report = run_chaos(registry(), options).value();
  for (const ChaosFailure& failure : report.first)
    MESSAGE(failure.seed << ": " << failure.rule << ": " << failure.message);
  CHECK(report.seeds == 60);
  CHECK(report.failures == 0);
  CHECK(report.twice == 1);
  CHECK(report.finished > 0);
  CHECK(report.finished + report.cancelled + report.refused + report.failed + report.never_taken ==
        report.jobs);
  CHECK(report.simulated_hours > 4);
  for (const FaultKind& kind : fault_kinds()) {
    CAPTURE(kind.name);
    CHECK(report.faults.contains(kind.name));
  }
  CHECK(report.times.size() == 3);
  CHECK(report.marks.at("agent: Reserve") > 0);
}

TEST_CASE("same seed, same run; another seed, another run") {
  ChaosOptions options;
  options.twice_every = 0;
  const ChaosRun once = run_chaos_seed(5, registry(), options).value();
  const ChaosRun again = run_chaos_seed(5, registry(), options).value();
  CHECK(once.trace_hash == again.trace_hash);
  CHECK(once.events == again.events);
  CHECK(once.faults == again.faults);
  CHECK(once.trace_hash != run_chaos_seed(6, registry(), options).value().trace_hash);
}

TEST_CASE("a kind of fault that is left out does not happen, and the others stay") {
  ChaosOptions options;
  const ChaosRun all = run_chaos_seed(3, registry(), options).value();
  REQUIRE_FALSE(all.active.empty());
  options.without = {all.active.front()};
  const ChaosRun fewer = run_chaos_seed(3, registry(), options).value();
  CHECK(fewer.active == std::vector<std::string>(all.active.begin() + 1, all.active.end()));
  CHECK_FALSE(fewer.faults.contains(all.active.front()));
}

/// A process that no agent ordered.
void plant_a_process(World& world) {
  LaunchSpec spec;
  spec.attempt = {world.hardware().jobs().front().id, Epoch{1}, 999};
  spec.gpus = {GpuId{0}};
  spec.gang = {{PartitionId{0}, spec.gpus}};
  (void)world.hardware().start(0, spec);
}

TEST_CASE("a planted bug is found, with its rule and its time") {
  ChaosOptions options;
  options.seeds = 3;
  options.plant = plant_a_process;
  const ChaosReport report = run_chaos(registry(), options).value();
  CHECK(report.failures == 3);
  REQUIRE(report.first.size() == 3);
  CHECK(report.first[0].seed == 1);
  for (const ChaosFailure& failure : report.first) {
    CHECK(failure.rule[0] == 'S');
    CHECK(failure.at_s == 300);
    CHECK(failure.message.find("300.0") != std::string::npos);
  }
}

TEST_CASE("a failing seed is made as small as its failure allows") {
  ChaosOptions options;
  options.plant = plant_a_process;
  constexpr std::uint64_t seed = 4;
  const ChaosRun failing = run_chaos_seed(seed, registry(), options).value();
  REQUIRE(failing.failure);
  const auto trial = [](const ChaosOptions& o) {
    return run_chaos_seed(o.first_seed, registry(), o).value();
  };
  const ShrunkChaos small = shrink_chaos(options, failing, trial, [] { return false; });
  CHECK(small.failure.rule == failing.failure->rule);
  CHECK(trial(small.options).active.size() < failing.active.size());
  CHECK(small.options.agents <= 2);
  CHECK(small.options.jobs <= 2);
  CHECK(small.options.faults_last == std::chrono::minutes(1));
  const auto read = parse_chaos_arguments(chaos_arguments(seed, small.options));
  REQUIRE(read.ok());
  CHECK(chaos_arguments(read.value().first_seed, read.value()) ==
        chaos_arguments(seed, small.options));
}

TEST_CASE("the mistake to practise on is found where executors die, and nowhere else") {
  ChaosOptions options;
  options.demo = true;
  options.seeds = 5;
  options.only = {"F5"};
  CHECK(run_chaos(registry(), options).value().failures == 0);
  options.only = {"F1-executor", "F2"};
  const ChaosReport report = run_chaos(registry(), options).value();
  CHECK(report.failures == 5);
  const ChaosRun one = run_chaos_seed(1, registry(), options).value();
  CHECK(one.active == std::vector<std::string>{"F1-executor", "F2-pause"});
}

TEST_CASE("jobs that wait for others, are held and requeued all end") {
  ChaosOptions options;
  options.only = {"F24-change", "F36-terms", "F24-cancel"};
  options.seeds = 4;
  const ChaosReport report = run_chaos(registry(), options).value();
  CHECK(report.failures == 0);
  CHECK(report.faults.at("F24-change") > 0);
  CHECK(report.faults.at("F36-terms") > 0);
}

TEST_CASE("queues change, and none has more GPUs than it may, whatever gets lost and dies") {
  ChaosOptions options;
  options.only = {"F37-queues", "F1-agent", "F8-loss", "F9-repeat", "F10-overtake", "F23-takeover"};
  options.seeds = 12;
  const ChaosReport report = run_chaos(registry(), options).value();
  for (const ChaosFailure& failure : report.first)
    MESSAGE(failure.seed << ": " << failure.rule << ": " << failure.message);
  CHECK(report.failures == 0);
  CHECK(report.faults.at("F37-queues") > 100);
  CHECK(report.faults.at("F37-queues: in force") > 50);
  CHECK(report.finished > 100);
}

TEST_CASE("queues are refused while an agent knows none, and set once all have been upgraded") {
  ChaosOptions options;
  options.only = {"F37-queues", "F19-version"};
  options.seeds = 4;
  const ChaosReport report = run_chaos(registry(), options).value();
  CHECK(report.failures == 0);
  CHECK(report.faults.at("F37-queues: in force") > 4);
}

TEST_CASE("the line of a seed is read back, and a wrong one is refused") {
  CHECK(parse_chaos_arguments("--first-seed 7 --seeds 1 --minutes 3").value().first_seed == 7);
  CHECK_FALSE(parse_chaos_arguments("--first-seed x").ok());
  CHECK_FALSE(parse_chaos_arguments("--first-seed").ok());
  CHECK_FALSE(parse_chaos_arguments("--colour 7").ok());
}

TEST_CASE("seeds that once failed do not") {
  const char* source = std::getenv("STARLING_SOURCE");
  REQUIRE(source != nullptr);
  std::ifstream file(std::string(source) + "/sim/chaos_seeds.txt");
  REQUIRE(file);
  PolicyRegistry policies = make_policy_registry();  // those that the command draws from
  add_gnn_policies(policies);
  int seeds = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string arguments = line.substr(0, line.find('#'));
    if (arguments.find_first_not_of(' ') == std::string::npos) continue;
    CAPTURE(line);
    const auto options = parse_chaos_arguments(arguments);
    REQUIRE(options.ok());
    const auto run = run_chaos_seed(options.value().first_seed, policies, options.value());
    REQUIRE(run.ok());
    CHECK_FALSE(run.value().failure.has_value());
    ++seeds;
  }
  CHECK(seeds > 0);
}

TEST_CASE("a policy that does not exist is refused") {
  ChaosOptions options;
  options.policy = "fofi";
  CHECK(run_chaos(registry(), options).error().code == Errc::not_found);
}

}  // namespace
}  // namespace starling
