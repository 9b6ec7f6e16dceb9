// SPDX-License-Identifier: Apache-2.0
// What policies get of a model that learns: how unsure it is of a placement, and candidates that
// follow what it has learned.
#include <doctest/doctest.h>

#include "interference/learned/interference_net.h"
#include "interference/models/learned_speed.h"
#include "policies/candidates/candidates.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

JobSpec job(std::uint64_t id, const char* model) {
  JobSpec spec;
  spec.id = {0, id};
  spec.model = model;
  return spec;
}

TEST_CASE("how unsure a placement is can be asked for, and candidates follow what was learned") {
  GeneratorOptions options;
  options.servers = 2;
  options.gpus_per_server = 4;
  options.gpu_type = "V100";
  const Topology topology = generate_flat(options).value();
  const auto model = make_learned_speed(topology, shipped_interference().value()).value();
  Occupancy gpus(topology, {0, 2}, 2);
  const JobSpec resident = job(1, "resnet18"), waits = job(2, "bert-base");
  const Placement here{GpuId{0}};
  gpus.take(here);
  JobView runs;
  runs.spec = &resident;
  runs.order = 1;
  runs.placement = here;
  const View view{topology, gpus, {}, {&runs, 1}, {}, *model, Instant{}, AgentId{0}};

  // A policy asks this of any placement: alone nothing is unsure, beside others it is.
  const JobProfile profile{"bert-base", 1};
  const Neighbours beside{{{"resnet18", 1}, here}};
  CHECK(view.speed.speed(profile, {GpuId{1}}, {}).uncertainty == 0);
  const Speed before = view.speed.speed(profile, here, beside);
  CHECK(before.uncertainty > 0.01);

  CandidateMemory memory;
  Candidates candidates = memory.sync(view, true);
  const PlacementRequest request = candidates.request(waits, 0);
  auto shared = candidates.shared(request);
  REQUIRE(shared.size() == 1);
  const double own = shared.front()->own;
  const std::uint64_t version = model->version();
  for (int i = 0; i < 40; ++i) model->observe(profile, here, beside, 0.5 * before.relative);
  CHECK(model->version() > version);
  const Speed after = view.speed.speed(profile, here, beside);
  CHECK(after.relative == doctest::Approx(0.5 * before.relative).epsilon(0.1));
  CHECK(after.uncertainty / after.relative < 0.5 * before.uncertainty / before.relative);
  // What was never seen is as unsure as it was: there is something to explore.
  const Speed other = view.speed.speed({"A3C", 1}, here, {{{"CycleGAN", 1}, here}});
  CHECK(other.uncertainty / other.relative > 2 * after.uncertainty / after.relative);

  candidates = memory.sync(view, true);
  shared = candidates.shared(request);
  REQUIRE(shared.size() == 1);
  CHECK(shared.front()->own < 0.6 * own);
}

}  // namespace
}  // namespace starling
