#include "sim/chaos.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

const PolicyRegistry& registry() {
  static const PolicyRegistry all = make_policy_registry();
  return all;
}

TEST_CASE("sixty seeds of faults break no rule, and every kind of fault happens") {
  ChaosOptions options;
  options.seeds = 60;
  options.faults_last = std::chrono::minutes(4);
  const ChaosReport report = run_chaos(registry(), options).value();
  for (const ChaosFailure& failure : report.first)
    MESSAGE(failure.seed << ": " << failure.rule << ": " << failure.message);
  CHECK(report.seeds == 60);
  CHECK(report.failures == 0);
  CHECK(report.finished > 0);
  CHECK(report.finished <= report.jobs);
  CHECK(report.simulated_hours > 4);
  for (const char* kind : {"agent killed", "all agents killed", "all executors restarted",
                           "executor killed", "frames lost", "frames overtaking", "frames repeated",
                           "herd of submissions", "link cut one way", "network clogged",
                           "network in halves", "node cut off", "rack killed", "swizzle"}) {
    CAPTURE(kind);
    CHECK(report.faults.contains(kind));
  }
}

TEST_CASE("same seed, same run; another seed, another run") {
  const ChaosOptions options;
  const ChaosRun once = run_chaos_seed(5, registry(), options).value();
  const ChaosRun again = run_chaos_seed(5, registry(), options).value();
  CHECK(once.trace_hash == again.trace_hash);
  CHECK(once.events == again.events);
  CHECK(once.faults == again.faults);
  CHECK(once.trace_hash != run_chaos_seed(6, registry(), options).value().trace_hash);
}

TEST_CASE("a planted bug is found, with its rule and its time") {
  ChaosOptions options;
  options.seeds = 3;
  options.plant = [](World& world) {
    // A process that nobody ordered.
    LaunchSpec spec;
    spec.attempt = {world.hardware().jobs().front().id, Epoch{1}, 999};
    spec.gpus = {GpuId{0}};
    spec.gang = {{PartitionId{0}, spec.gpus}};
    (void)world.hardware().start(0, spec);
  };
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

TEST_CASE("homes that decide in rounds do not bid against each other for ever") {
  ChaosOptions options;
  options.policy = "drf";
  const ChaosRun run = run_chaos_seed(77, registry(), options).value();
  CHECK_FALSE(run.failure.has_value());
  CHECK(run.finished == run.jobs);
}

TEST_CASE("a policy that does not exist is refused") {
  ChaosOptions options;
  options.policy = "fofi";
  CHECK(run_chaos(registry(), options).error().code == Errc::not_found);
}

}  // namespace
}  // namespace starling
