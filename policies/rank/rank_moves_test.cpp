// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "policies/elastic/elastic_jobs_test.h"
#include "policies/rank/rank.h"
#include "policies/testing/policy_rig.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// V100s are three times as fast as P100s.
struct FastFirst final : SpeedModel {
  explicit FastFirst(const Topology& of) : topology(of) {}
  [[nodiscard]] Speed speed(const JobProfile&, const Placement& placement,
                            const Neighbours&) const override {
    return {is_fast(placement.front()) ? 1.0 : 0.33, 0};
  }
  [[nodiscard]] bool is_fast(GpuId gpu) const {
    return topology.gpu_types()[topology.type_of(gpu).value].name == "V100";
  }
  Topology topology;
};

TEST_CASE("a job on slow GPUs moves to faster ones that no other job wants") {
  GeneratorOptions options;
  options.gpus_per_server = 4;
  options.groups = {{4, "V100"}, {2, "P100"}};
  const Topology topology = generate_flat(options).value();
  PolicyRig rig(topology, std::make_unique<RankPolicy>(RankOptions{.believes = true}));
  const FastFirst speeds(topology);
  rig.speed = &speeds;
  JobSpec rigid;
  rigid.workers = 16;
  rigid.gpu_types = {"V100"};
  rigid.duration = 1000s;
  rig.submit(rigid);
  rig.submit(elastic(1, 0, 32, 50'000).spec);
  rig.round();
  REQUIRE(rig.jobs[0].placement.size() == 16);
  REQUIRE(rig.jobs[1].placement.size() == 8);
  rig.end(0);
  for (int i = 0; i < 3; ++i) rig.round(120s);
  const Placement& gpus = rig.jobs[0].placement;
  CHECK(gpus.size() == 16);
  CHECK(std::ranges::all_of(gpus, [&](GpuId gpu) { return speeds.is_fast(gpu); }));
}

}  // namespace
}  // namespace starling
