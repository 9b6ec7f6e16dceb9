// SPDX-License-Identifier: Apache-2.0
// Whom `rank` keeps GPUs for, and whom not; whom it leaves alone; and what it says and learns of
// those who get other than their part, or go elsewhere.
#include <doctest/doctest.h>

#include <algorithm>

#include "interference/models.h"
#include "policies/rank/rank_curves.h"
#include "policies/rank/rank_rig_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

Topology of_groups(std::vector<ServerGroup> groups) {
  GeneratorOptions options;
  options.groups = std::move(groups);
  return generate_flat(options).value();
}

TEST_CASE("of a job that moves what it did here is learned as no length") {
  const Topology topology = of_groups({{1, "V100"}, {1, "P100"}});
  const std::uint32_t slow = topology.gpu_types()[topology.server(ServerId{0}).gpu_type.value].name ==
                                     "P100"
                                 ? 0
                                 : 1;
  RankRig rig(topology, {slow, slow + 1}, {});
  const auto model = make_analytic_speed(topology);
  rig.speed = model.get();
  const GpuTypeId fast = topology.server(ServerId{1 - slow}).gpu_type;
  std::vector<TypeRoom> rooms;
  std::vector<TypePrice> prices;
  RemoteDigest other;
  other.agent = AgentId{1};
  other.servers = {1 - slow, 2 - slow};
  other.gpus = 8;
  const auto says_other = [&](std::uint32_t free, float price) {
    rooms = {{fast, free, free, 0}};
    prices = {{fast, price}};
    other.free = free;
    other.types = rooms;
    other.prices = prices;
    other.at = rig.now;
    ++other.version;
    rig.others = {other};
  };
  JobSpec job = elastic_spec(1, 0);
  job.user = "somebody";
  job.model = "resnet50";
  says_other(0, 50);
  rig.submit(job);
  rig.round();
  REQUIRE(rig.gpus_of(0) == 1);
  rig.pass(2h);
  says_other(8, 0.1F);
  rig.settle(TriggerKind::round);
  REQUIRE(rig.jobs.empty());  // it went there
  says_other(0, 50);
  rig.submit(job);
  rig.round();
  REQUIRE(rig.gpus_of(0) == 1);
  CHECK(says(rig.why(0), "of which 900 s were expected to be left"));  // nothing is known yet
}

}  // namespace
}  // namespace starling
