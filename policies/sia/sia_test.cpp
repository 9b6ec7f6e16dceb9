// SPDX-License-Identifier: Apache-2.0
#include "policies/sia/sia.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "policies/elastic/elastic_jobs_test.h"
#include "policies/sia/test_sia_rig.h"
#include "policies/testing/test_world.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

JobSpec elastic_spec(std::uint32_t most) { return elastic(1, 0, most, 1e6).spec; }

SiaOptions by_model() {
  SiaOptions options;
  options.goodputs = {};
  return options;
}

TEST_CASE("a job begins on one GPU and has at most twice as many at each round") {
  SiaRig rig(servers(4), by_model());
  rig.submit(elastic_spec(24));
  std::vector<std::size_t> sizes;
  for (int round = 0; round < 7; ++round) {
    rig.round();
    sizes.push_back(rig.jobs.front().placement.size());
  }
  CHECK(sizes == std::vector<std::size_t>{1, 2, 4, 8, 16, 24, 24});
  // Part of a server is never split, whole ones are whole.
  CHECK(rig.gpus.whole_free_count(8) == 1);
}

TEST_CASE("jobs that are not elastic have what they ask for, on whichever servers") {
  SiaRig rig(servers(2), by_model());
  JobSpec rigid;
  rigid.workers = 12;
  rig.submit(rigid);
  rigid.workers = 3;
  rig.submit(rigid);
  rig.round();
  CHECK(rig.jobs[0].placement.size() == 12);
  CHECK(rig.jobs[1].placement.size() == 3);
}

TEST_CASE("a job that has not run for as long as a restart takes stays as it is") {
  SiaRig rig(servers(1), by_model());
  JobSpec slow = elastic_spec(8);
  slow.run.save = 50s, slow.run.restore = 100s;
  rig.submit(slow);
  std::vector<std::size_t> sizes;
  for (int round = 0; round < 6; ++round) {
    rig.round();
    sizes.push_back(rig.jobs.front().placement.size());
  }
  CHECK(sizes == std::vector<std::size_t>{1, 1, 1, 2, 2, 2});
}

TEST_CASE("a job that was restarted often is not restarted for a little") {
  for (const std::uint32_t restarts : {0U, 15U}) {
    SiaRig rig(servers(1), by_model());
    JobView& job = rig.submit(elastic_spec(8));
    job.restarts = restarts;
    rig.round();
    rig.round(10min);
    CHECK(rig.jobs.front().placement.size() == (restarts == 0 ? 2 : 1));
  }
}

/// A P100 is four times as slow.
struct SlowType final : SpeedModel {
  explicit SlowType(Topology of) : topology(std::move(of)) {}
  [[nodiscard]] Speed speed(const JobProfile&, const Placement& placement,
                            const Neighbours&) const override {
    const GpuTypeId type = topology.type_of(placement.front());
    return {topology.gpu_types()[type.value].name == "P100" ? 0.25 : 1.0, 0};
  }
  Topology topology;
};

TEST_CASE("a job goes to the type on which it is faster, whether that was measured or not") {
  GeneratorOptions options;
  options.groups = {{1, "P100"}, {1, "V100"}};
  const Topology topology = generate_flat(options).value();
  const SlowType speed(topology);
  for (const bool measured : {false, true}) {
    SiaOptions sia = by_model();
    sia.goodputs.measured = measured;
    SiaRig rig(topology, sia);
    rig.speed = &speed;
    rig.submit(elastic_spec(8));
    JobSpec bound = elastic_spec(4);
    bound.gpu_types = {"P100"};
    rig.submit(bound);
    for (int round = 0; round < 5; ++round) rig.round();
    CHECK(rig.jobs[0].placement.size() == 8);
    CHECK(rig.topology.server_of(rig.jobs[0].placement.front()) == ServerId{1});
    CHECK(rig.jobs[1].placement.size() == 4);
    CHECK(rig.topology.server_of(rig.jobs[1].placement.front()) == ServerId{0});
  }
}

TEST_CASE("where the program is not solved every job keeps what it has, and it says so") {
  int fails = 0;
  SiaOptions options = by_model();
  options.solver = [&](const LinearProgram& program, const IntegerSearch& search) {
    if (fails > 0) return Result<IntegerAnswer>(Errc::busy, "the nodes ran out");
    return solve_integer(program, search);
  };
  SiaRig rig(servers(1), options);
  rig.submit(elastic_spec(8));
  rig.round();
  rig.round();
  const Placement before = rig.jobs[0].placement;
  CHECK(before.size() == 2);
  fails = 1;
  const JobId late = rig.submit(elastic_spec(4)).spec->id;
  rig.round();
  CHECK(rig.jobs[0].placement == before);
  CHECK(rig.jobs[1].placement.size() == 1);
  const auto why = rig.policy->explain(late);
  REQUIRE(!why.empty());
  CHECK(why.front().find("could not be solved (the nodes ran out)") != std::string::npos);
  fails = 0;
  rig.round();
  CHECK(rig.jobs[0].placement.size() == 4);
}

TEST_CASE("beside more jobs than one program holds those that wait get GPUs, the urgent others'") {
  GeneratorOptions options;
  options.groups = {{10, "P100"}, {134, "V100"}};
  SiaRig rig(generate_flat(options).value(), by_model());
  JobSpec single;
  single.gpu_types = {"P100"};
  for (int i = 0; i < 80; ++i) rig.submit(single);
  single.gpu_types = {"V100"};
  single.priority = 1;
  for (int i = 0; i < 40; ++i) rig.submit(single);
  single.priority = 0;
  for (int i = 0; i < 1032; ++i) rig.submit(single);
  rig.round();
  CHECK(rig.gpus.free_count() == 128);
  rig.round();
  REQUIRE(rig.gpus.free_count() == 0);

  JobSpec urgent;
  urgent.workers = 4;
  urgent.priority = 2;
  for (const char* type : {"P100", "V100"}) {
    urgent.gpu_types = {type};
    rig.submit(urgent);
  }
  rig.round();
  CHECK(rig.jobs[1152].placement.size() == 4);
  CHECK(rig.jobs[1153].placement.size() == 4);
  for (const JobView& job : rig.jobs) CHECK((job.spec->priority == 0 || !job.placement.empty()));
}

TEST_CASE("it tells what a job was given, and what else it could have had") {
  SiaRig rig(servers(1), by_model());
  const JobId id = rig.submit(elastic_spec(8)).spec->id;
  rig.round();
  rig.round();
  const auto lines = rig.policy->explain(id);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "policy: the round at 120 s gave it 2 GPUs of V100; to wait costs 1.10");
  CHECK(lines[1].starts_with("  2 GPUs of V100: 1.96 times as fast as its slowest choice, costs"));
  CHECK(lines[1].ends_with(", taken"));
  CHECK(lines[2].ends_with("costs 1.00, as it ran"));
  CHECK(lines[3] == "  whatever it does not have keeps 0.80 of its speed, for a restart");
  CHECK(rig.policy->explain(JobId{7, 7}).empty());
}

TEST_CASE("on how many GPUs jobs have run outlives the policy") {
  SiaRig rig(servers(2), by_model());
  rig.submit(elastic_spec(16));
  for (int round = 0; round < 3; ++round) rig.round();
  CHECK(rig.jobs[0].placement.size() == 4);
  const auto memory = rig.policy->save(Instant{});
  rig.policy = std::make_unique<SiaPolicy>(by_model());
  REQUIRE(rig.policy->restore(memory, Instant{}).ok());
  CHECK(rig.policy->save(Instant{}) == memory);
  CHECK(!rig.policy->restore(std::span(memory).first(memory.size() - 8), Instant{}).ok());
  rig.apply(Preempt{rig.jobs[0].spec->id});
  rig.round();
  CHECK(rig.jobs[0].placement.size() == 8);
}

TEST_CASE("a gang that no type holds gets GPUs of several after a while") {
  GeneratorOptions options;
  options.groups = {{1, "P100"}, {1, "V100"}};
  SiaRig rig(generate_flat(options).value(), by_model());
  rig.submit(elastic_spec(8));
  JobSpec wide;
  wide.workers = 12;
  rig.submit(wide);
  rig.round();
  CHECK(rig.jobs[1].placement.empty());
  rig.round(10min);
  CHECK(rig.jobs[1].placement.size() == 12);
  CHECK(!rig.jobs[0].placement.empty());
}

}  // namespace
}  // namespace starling
