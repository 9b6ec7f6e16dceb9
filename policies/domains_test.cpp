// SPDX-License-Identifier: Apache-2.0
// Gangs of several servers stay within a scale-up domain where one has room: in the plain rules,
// among the candidates, and with every policy that packs.
#include <doctest/doctest.h>

#include <algorithm>

#include "interference/models.h"
#include "policies/registry.h"
#include "policies/testing/test_placements.h"
#include "scheduling/packing.h"
#include "topology/free_servers.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

JobSpec gang(std::uint32_t workers, std::uint32_t gpus_per_worker) {
  JobSpec job;
  job.id = JobId{1, 1};
  job.workers = workers;
  job.gpus_per_worker = gpus_per_worker;
  job.model = "vgg16";
  return job;
}

/// Three racks of 72 GPUs: 8 free in the first, 24 and 3 of a tray in the second, all in the third.
struct Racks {
  Topology topology = generate_nvl72({.racks = 3}).value();
  Occupancy gpus{topology, {0, 54}};
  Racks() { gpus.take(range(0, 64) + range(72 + 24, 144 - 3)); }
  [[nodiscard]] std::optional<Placement> node(std::uint32_t count, std::uint32_t worker) const {
    return place_server(gpus, shape_of(gpus), count, worker);
  }
};

TEST_CASE("a gang goes to the domain with the fewest free GPUs that has room") {
  const Racks racks;
  CHECK(racks.node(8, 4) == range(64, 72));
  CHECK(racks.node(16, 4) == range(72, 88));  // and not to the lowest, which lie in two domains
  CHECK(racks.node(6, 1) == range(64, 70));
  CHECK(racks.node(27, 1) == range(72, 96) + range(141, 144));  // the rest by best fit in the same
  CHECK(racks.node(28, 4) == range(144, 172));                  // 27 are free, of whole trays 24
  CHECK(racks.node(72, 4) == range(144, 216));
  // No domain has room: then over two of them, lowest first.
  CHECK(racks.node(80, 4) == range(64, 96) + range(144, 192));
  CHECK(racks.node(3, 1) == range(141, 144));  // one server is nearer than a domain
}

TEST_CASE("needs of CPUs do not lead a gang out of its domain") {
  const Racks racks;
  JobSpec job = gang(4, 4);
  job.cpus_per_worker = 100;
  const auto found = place(racks.gpus, shape_of(racks.gpus), job, Fit::server);
  CHECK(found == range(72, 88));
}

TEST_CASE("a partition that ends within a domain has the part that it owns") {
  const Racks racks;
  const Occupancy part(racks.topology, {16, 20});
  const auto found = place_server(part, shape_of(part), 8, 4);
  CHECK(found == range(64, 72));
  CHECK(place_server(part, shape_of(part), 12, 4) == range(64, 76));
}

TEST_CASE("candidates: a domain first, a rack where there is none") {
  const Racks racks;
  FreeServers free;
  free.sync(racks.gpus);
  CHECK(free.in_rack(0, 16, 4) == range(72, 88));
  CHECK(free.in_rack(0, 27, 1) == range(72, 96) + range(141, 144));
  CHECK(!free.in_rack(0, 73, 1));
  free.take(range(72, 84));
  CHECK(free.in_rack(0, 16, 4) == range(144, 160));
  // A pod's domain holds what no rack does.
  const Topology pods =
      generate_torus_pods(
          {.servers = 16, .servers_per_rack = 2, .server_template = "tpu-v4", .racks_per_pod = 4})
          .value();
  const Occupancy all(pods, {0, 16});
  FreeServers hosts;
  hosts.sync(all);
  CHECK(hosts.in_rack(0, 32, 4) == range(0, 32));
}

TEST_CASE("every policy that packs keeps a gang within a domain") {
  const Racks racks;
  const JobSpec spec = gang(4, 4);
  JobView waits;
  waits.spec = &spec;
  waits.order = 1;
  const std::vector<JobView> waiting{waits};
  const auto speed = make_analytic_speed(racks.topology);
  for (const char* policy :
       {"fifo:fit=server", "sjf:fit=server", "easy:fit=server", "consolidate",
        "consolidate:variant=spread", "consolidate:variant=share", "lif", "smart-greedy"}) {
    CAPTURE(std::string(policy));
    const auto made = make_policy_registry().make(policy);
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
    Occupancy gpus(racks.topology, {0, 54}, jobs_per_gpu(made.value()->facts(), true));
    gpus.take(range(0, 64) + range(72 + 24, 144 - 3));
    const View view{racks.topology, gpus, waiting, {}, {}, *speed, Instant{}, AgentId{0}};
    Rng rng(1);
    const auto decisions = made.value()->decide(view, {}, rng);
    REQUIRE(decisions.size() == 1);
    const Placement& placement = std::get<Start>(decisions[0]).placement;
    CHECK(placement.size() == 16);
    CHECK(racks.topology.tier_of(placement) == Tier::domain);
  }
}

}  // namespace
}  // namespace starling
