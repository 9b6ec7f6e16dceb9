// SPDX-License-Identifier: Apache-2.0
// The indices under the candidates: free GPUs by type and count, and who runs where, both followed
// from call to call.
#include "policies/candidates/candidates.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "interference/models.h"
#include "policies/parts/server_count.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

Topology mixed(std::uint32_t gpus_per_server) {
  GeneratorOptions options;
  options.groups = {{4, "V100"}, {3, "P100"}};
  options.gpus_per_server = gpus_per_server;
  options.servers_per_rack = 2;
  return generate_leaf_spine(options).value();
}

TEST_CASE("free GPUs are found where a look at every server finds them") {
  const Topology topology = mixed(4);
  Occupancy gpus(topology, {0, 7});
  FreeServers free;
  Rng rng(5);
  for (int step = 0; step < 2000; ++step) {
    const GpuId gpu{rng.below(28)};
    if (gpus.is_free(gpu)) {
      gpus.take(Placement{gpu});
    } else {
      gpus.give_back(Placement{gpu});
    }
    free.sync(gpus);
    REQUIRE(free.kinds() == 3);
    const std::uint32_t kind = rng.below(3);
    const std::uint32_t count = 1 + rng.below(10);
    std::uint32_t total = 0;
    std::uint32_t least = ~0U;
    std::uint32_t most = 0;
    std::uint32_t most_in_rack = 0;
    std::map<std::uint32_t, std::uint32_t> racks;
    for (std::uint32_t s = 0; s < 7; ++s) {
      if (kind == 1 && s >= 4) continue;
      if (kind == 2 && s < 4) continue;
      const std::uint32_t here = gpus.free_on(ServerId{s});
      total += here;
      if (here >= count) least = std::min(least, here);
      most = std::max(most, here);
      const std::uint32_t rack = racks[topology.rack_of(ServerId{s})] += here;
      most_in_rack = std::max(most_in_rack, rack);
    }
    CHECK(free.free_count(kind) == total);
    const auto fit = free.best_fit(kind, count);
    REQUIRE(fit.has_value() == (least != ~0U));
    const auto room = [&](const Placement& p) { return gpus.free_on(topology.server_of(p[0])); };
    if (fit) CHECK(room(*fit) == least);
    const auto emptiest = free.emptiest(kind, count);
    REQUIRE(emptiest.has_value() == (most >= count));
    if (emptiest) CHECK(room(*emptiest) == most);
    CHECK(free.in_rack(kind, count, 1).has_value() == (most_in_rack >= count));
    for (const auto& found : {fit, emptiest, free.tight(kind, count, 1),
                              free.in_rack(kind, count, 1), free.spread(kind, count, 1)}) {
      if (!found) continue;
      CHECK(found->size() == count);
      CHECK(std::is_sorted(found->begin(), found->end()));
      CHECK(std::adjacent_find(found->begin(), found->end()) == found->end());
      for (const GpuId g : *found) {
        CHECK(gpus.is_free(g));
        if (kind != 0) CHECK(topology.type_of(g) == free.type(kind));
      }
    }
    const auto tight = free.tight(kind, count, 1);
    const auto spread = free.spread(kind, count, 1);
    REQUIRE(tight.has_value() == (total >= count));
    REQUIRE(spread.has_value() == (total >= count));
    if (tight) CHECK(server_count(topology, *tight) <= server_count(topology, *spread));
    if (tight && fit) CHECK(*tight == *fit);
  }
}

TEST_CASE("workers stay whole") {
  const Topology topology = mixed(4);
  Occupancy gpus(topology, {0, 7});
  gpus.take(Placement{GpuId{0}, GpuId{4}});  // three are free on servers 0 and 1
  FreeServers free;
  free.sync(gpus);
  for (const auto& found : {free.tight(1, 6, 2), free.spread(1, 6, 2), free.in_rack(1, 6, 2)}) {
    REQUIRE(found);
    std::map<ServerId, int> on;
    for (const GpuId gpu : *found) ++on[topology.server_of(gpu)];
    for (const auto& [server, count] : on) CHECK(count % 2 == 0);
  }
  CHECK(!free.tight(1, 14, 2));  // 2 + 2 + 4 + 4
  CHECK(free.tight(1, 14, 1));
}

TEST_CASE("what was taken in a call is not free until the next one") {
  const Topology topology = mixed(4);
  const Occupancy gpus(topology, {0, 7});
  FreeServers free;
  free.sync(gpus);
  free.take({GpuId{0}, GpuId{1}});
  CHECK(!free.is_free(GpuId{0}));
  CHECK(*free.best_fit(0, 2) == Placement{GpuId{2}, GpuId{3}});
  free.sync(gpus);
  CHECK(*free.best_fit(0, 2) == Placement{GpuId{0}, GpuId{1}});
}

TEST_CASE("it is news that a GPU has room for another, also of a job unknown") {
  const Topology topology = mixed(4);
  Occupancy gpus(topology, {0, 7}, 2);
  const Placement five{GpuId{5}};
  gpus.take(five);
  gpus.take(five);
  FreeServers free;
  free.sync(gpus);
  (void)free.take_changed();
  const std::uint64_t before = free.version();
  gpus.give_back(five);
  free.sync(gpus);
  CHECK(free.version() > before);
  CHECK(free.take_changed() == std::vector<std::uint32_t>{1});
  // What was said in a call is none once it has come about.
  free.take({GpuId{5}, GpuId{6}});
  gpus.take(Placement{GpuId{5}, GpuId{6}});
  const std::uint64_t said = free.version();
  free.sync(gpus);
  CHECK(free.version() == said);
  // What came to nothing is taken back.
  free.take({GpuId{6}});
  free.sync(gpus);
  CHECK(free.version() > said);
}

TEST_CASE("beside a gang on two GPU types a job gets the one that it allows") {
  const Topology topology = mixed(4);  // P100 from GPU 16 on
  Occupancy gpus(topology, {0, 7}, 2);
  const auto speed = make_analytic_speed(topology);
  JobSpec spec;
  spec.model = "ResNet-18 (batch size 32)";
  spec.workers = 4;
  JobView gang;
  gang.spec = &spec;
  gang.placement = {GpuId{14}, GpuId{15}, GpuId{16}, GpuId{17}};
  Placement all;
  for (std::uint32_t g = 0; g < 28; ++g) all.push_back(GpuId{g});
  gpus.take(all);  // of the others it is not known which jobs they are
  const std::vector<JobView> running{gang};
  const View view{topology, gpus, {}, running, {}, *speed, Instant{}, AgentId{0}};
  CandidateMemory memory;
  Candidates candidates = memory.sync(view, true);
  JobSpec typed = spec;
  typed.gpu_types = {"V100"};
  CHECK(candidates.shared(candidates.request(typed, 0)).empty());
  typed.workers = 2;
  const auto found = candidates.shared(candidates.request(typed, 1));
  REQUIRE(!found.empty());
  for (const Candidate* c : found) CHECK(c->placement == Placement{GpuId{14}, GpuId{15}});
}

/// Jobs that come and go on two-tenant GPUs; what an index that follows knows and one that is made
/// anew must be the same.
TEST_CASE("which job runs where is followed from call to call") {
  const Topology topology = mixed(4);
  Occupancy gpus(topology, {0, 7}, 2);
  const auto speed = make_analytic_speed(topology);
  std::vector<JobSpec> specs(400);
  std::vector<JobView> running;
  Residents followed(true);
  Rng rng(11);
  std::uint64_t order = 0;
  const auto start = [&] {
    JobView view;
    JobSpec& spec = specs[order];
    view.order = order++;
    spec.model = rng.chance(0.5) ? "resnet50" : "vgg16";
    for (std::uint32_t g = rng.below(28); g < 28 && view.placement.size() < 5;
         g += 1 + rng.below(2)) {
      if (gpus.has_room(GpuId{g})) view.placement.push_back(GpuId{g});
    }
    if (view.placement.empty()) return;
    spec.workers = static_cast<std::uint32_t>(view.placement.size());
    view.spec = &spec;
    gpus.take(view.placement);
    running.push_back(view);
  };
  for (int step = 0; step < 390; ++step) {
    for (std::uint32_t i = rng.below(3); i > 0 && !running.empty(); --i) {
      const auto gone = running.begin() + rng.below(static_cast<std::uint32_t>(running.size()));
      gpus.give_back(gone->placement);
      running.erase(gone);
    }
    const View view{
        topology,  gpus, {}, running, {}, *speed, Instant{} + std::chrono::seconds(step),
        AgentId{0}};
    followed.sync(view);
    Residents anew(false);
    anew.sync(view);
    CHECK(followed.count() == running.size());
    for (std::uint32_t g = 0; g < 28; ++g) {
      const bool one = followed.tenant(GpuId{g}) != Residents::kNone;
      REQUIRE(one == (anew.tenant(GpuId{g}) != Residents::kNone));
      CHECK(one == (gpus.tenants(GpuId{g}) == 1));
      CHECK(followed.open(view, GpuId{g}) == one);
      if (!one) continue;
      const Resident& a = followed.at(followed.tenant(GpuId{g}));
      const Resident& b = anew.at(anew.tenant(GpuId{g}));
      CHECK(a.order == b.order);
      CHECK(a.open == b.open);
      CHECK(followed.speed(*speed, followed.tenant(GpuId{g})) ==
            doctest::Approx(anew.speed(*speed, anew.tenant(GpuId{g}))));
    }
    for (std::uint32_t s = 0; s < 7; ++s) {
      CHECK(followed.on(s).size() == anew.on(s).size());
      CHECK(followed.open_on(s) == anew.open_on(s));
    }
    CHECK(followed.live_groups().size() == anew.live_groups().size());
    start();
    // Half of what starts is told at once, some of it in vain.
    if (running.empty() || !rng.chance(0.5)) continue;
    const JobView& last = running.back();
    if (last.order + 1 == order) followed.add(last, last.placement, view.now);
    if (!rng.chance(0.3)) continue;
    gpus.give_back(running.back().placement);
    running.pop_back();
  }
}

}  // namespace
}  // namespace starling
