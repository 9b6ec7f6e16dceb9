// SPDX-License-Identifier: Apache-2.0
// What is asked of other partitions where servers differ in size, as after a change of servers.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "policies/partitions/remote_rooms.h"
#include "policies/testing/battery.h"
#include "topology/builder.h"

namespace starling {
namespace {

/// Agent 1 has 14 GPUs, agents 2 and 0 twelve each; all free. Commonest: servers of two GPUs.
struct Unequal {
  Unequal() : topology(make()), gpus(topology, {7, 10}) {
    say(1, {0, 4}, 14, 3);
    say(2, {4, 7}, 12, 2);
  }
  static Topology make() {
    TopologyBuilder builder("mixed");
    const GpuTypeId type = builder.gpu_type({"V100", 16});
    builder.begin_pod();
    builder.begin_rack();
    Server server;
    server.gpu_type = type;
    server.cpus = 4;
    for (const std::uint32_t count : {8U, 2U, 2U, 2U, 8U, 2U, 2U, 8U, 2U, 2U})
      builder.add_server(server, count);
    return std::move(builder).build();
  }
  /// As an agent of the first protocol says it.
  void say(std::uint32_t agent, IndexRange servers, std::uint32_t free, std::uint32_t whole) {
    RemoteDigest digest;
    digest.agent = AgentId{agent};
    digest.servers = servers;
    digest.gpus = digest.free = free;
    digest.largest_free_server = 8;
    digest.whole_free_servers = whole;
    others.push_back(digest);
  }
  std::vector<Spread> spreads(const JobSpec& spec) const {
    JobView job;
    job.spec = &spec;
    job.order = 1;
    const CrowdedSpeed speed(topology);
    const View view{topology, gpus, {&job, 1}, {}, others, speed, Instant{}, AgentId{0}};
    Rng rng(1);
    std::vector<Spread> all;
    const std::unique_ptr<Policy> policy = make_policy_registry().make("fifo").value();
    for (const Decision& decision : policy->decide(view, {}, rng)) {
      if (const auto* spread = std::get_if<Spread>(&decision)) all.push_back(*spread);
    }
    return all;
  }
  Topology topology;
  Occupancy gpus;
  std::vector<RemoteDigest> others;
};

TEST_CASE("a gang that no number of whole servers could hold asks for what there is") {
  const Unequal flock;
  JobSpec spec;
  spec.id = JobId{1, 1};
  spec.workers = 30;
  const auto asks = flock.spreads(spec);
  REQUIRE(asks.size() == 1);
  CHECK(asks.front().local.size() == 12);
  spec.workers = 39;
  CHECK(flock.spreads(spec).empty());
}

TEST_CASE("what an empty partition has beside its GPUs is what its servers have") {
  const Unequal flock;
  JobSpec spec;
  spec.workers = 20;
  spec.cpus_per_worker = 2;
  const RemoteNeed need = need_of(spec, flock.topology);
  CHECK(RemoteRooms(flock.topology, flock.others[0]).gpus(need) == 8);  // two on each server
  CHECK(RemoteRooms(flock.topology, flock.others[1]).gpus(need) == 6);
  const auto asks = flock.spreads(spec);
  REQUIRE(asks.size() == 1);
  CHECK(asks.front().local.size() == 6);
}

}  // namespace
}  // namespace starling
