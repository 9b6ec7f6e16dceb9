// SPDX-License-Identifier: Apache-2.0
// What is known of other partitions: digests, less what was given away since they were written.
#include "policies/partitions/remote_partitions.h"

#include <doctest/doctest.h>

#include <map>

#include "policies/testing/battery.h"

namespace starling {
namespace {

/// Servers of four GPUs. Agent 2 looks; agent 0 has two V100 servers, agent 1 one of each type,
/// agent 3 a P100 server.
class Flock {
 public:
  Flock() : topology(make()), speed(topology), gpus(topology, {4, 5}) {
    v100 = topology.server(ServerId{0}).gpu_type;
    p100 = topology.server(ServerId{3}).gpu_type;
    add(0, {0, 2}, 8);
    add(1, {2, 4}, 8);
    add(3, {5, 6}, 4);
  }
  bool begin() {
    const View view{topology, gpus, {}, {}, others, speed, now, AgentId{2}};
    return peers.begin(view, 4);
  }
  void give(std::uint32_t to, std::uint32_t count, std::vector<GpuTypeId> types = {}) {
    const View view{topology, gpus, {}, {}, others, speed, now, AgentId{2}};
    RemoteNeed need;
    need.gpus = count;
    need.typed = !types.empty();
    need.types = std::move(types);
    peers.give(view, AgentId{to}, need);
  }
  const RemotePartition& peer(std::uint32_t agent) {
    const auto found = std::ranges::find(peers.all(), AgentId{agent}, &RemotePartition::agent);
    REQUIRE(found != peers.all().end());
    return *found;
  }
  RemoteDigest& digest(std::uint32_t agent) {
    return *std::ranges::find(others, AgentId{agent}, &RemoteDigest::agent);
  }
  void add(std::uint32_t agent, IndexRange servers, std::uint32_t free) {
    RemoteDigest d;
    d.agent = AgentId{agent};
    d.servers = servers;
    d.gpus = 4 * servers.size();
    d.free = free;
    d.largest_free_server = std::min(free, 4U);
    d.whole_free_servers = free / 4;
    d.at = now;
    others.push_back(d);
  }

  Topology topology;
  CrowdedSpeed speed;
  Occupancy gpus;
  Instant now = Instant{} + std::chrono::hours(1);
  std::vector<RemoteDigest> others;
  GpuTypeId v100, p100;
  RemotePartitions peers;

 private:
  static Topology make() {
    GeneratorOptions options;
    options.groups = {{3, "V100"}, {3, "P100"}};
    options.gpus_per_server = 4;
    return generate_flat(options).value();
  }
};

TEST_CASE("peers come by distance, the next agent after this one first") {
  Flock flock;
  REQUIRE(flock.begin());
  std::vector<std::uint32_t> order;
  for (const RemotePartition& peer : flock.peers.all()) order.push_back(peer.agent.value);
  CHECK(order == std::vector<std::uint32_t>{3, 0, 1});
}

TEST_CASE("old digests, one's own and those of partitions without GPUs say nothing") {
  Flock flock;
  flock.digest(0).at = flock.now - RemotePartitions::kFresh - Duration(1);
  flock.digest(1).gpus = 0;
  flock.add(2, {4, 5}, 4);
  REQUIRE(flock.begin());
  REQUIRE(flock.peers.count() == 1);
  CHECK(flock.peers.all().front().agent == AgentId{3});
  flock.others.clear();
  CHECK_FALSE(flock.begin());
  CHECK_FALSE(flock.peers.any());
}

TEST_CASE("types are what the digest says of those that the partition has, else its totals") {
  Flock flock;
  const TypeRoom said[] = {{flock.v100, 9, 9, 2}, {GpuTypeId{77}, 4, 4, 4}};
  flock.digest(1).types = said;
  flock.begin();
  const auto mixed = flock.peers.types(flock.peer(1));
  REQUIRE(mixed.size() == 2);
  const RemoteType& fast = mixed[mixed[0].type == flock.v100 ? 0 : 1];
  const RemoteType& slow = mixed[mixed[0].type == flock.v100 ? 1 : 0];
  CHECK(fast.free == 4);  // no more than it has
  CHECK(fast.largest == 4);
  CHECK(fast.open == 2);
  CHECK(slow.gpus == 4);
  CHECK(slow.free == 0);  // of this one it says nothing
  const auto one = flock.peers.types(flock.peer(0));
  REQUIRE(one.size() == 1);
  CHECK(one[0].free == 8);
  CHECK(flock.peers.all_types().size() == 2);
}

TEST_CASE("what was given away is gone until the digest says something new, or for a while") {
  Flock flock;
  flock.begin();
  const std::uint64_t version = flock.peers.version();
  flock.give(0, 3);
  CHECK(flock.peers.version() != version);
  const auto taken = [&] {
    CHECK(flock.peer(0).free == 5);
    CHECK(flock.peer(0).whole == 1);
    CHECK(flock.peer(0).waiting_gpus == 3);
    CHECK(flock.peers.types(flock.peer(0))[0].free == 5);
  };
  taken();
  flock.begin();
  taken();
  SUBCASE("another digest") {
    flock.digest(0).waiting_gpus = 1;
    flock.begin();
    CHECK(flock.peer(0).free == 8);
  }
  SUBCASE("a digest of somebody else") {
    flock.digest(1).waiting_gpus = 1;
    flock.begin();
    taken();
  }
  SUBCASE("time") {
    flock.now += RemotePartitions::kPledge;
    flock.begin();
    taken();
    flock.now += Duration(1);
    flock.begin();
    CHECK(flock.peer(0).free == 8);
  }
}

TEST_CASE("what a job takes, it takes of the types that it may have") {
  Flock flock;
  const TypeRoom said[] = {{std::min(flock.v100, flock.p100), 4, 4, 0},
                           {std::max(flock.v100, flock.p100), 4, 4, 0}};
  flock.digest(1).types = said;
  flock.begin();
  flock.give(1, 2, {flock.p100});
  for (const RemoteType& type : flock.peers.types(flock.peer(1)))
    CHECK(type.free == (type.type == flock.p100 ? 2 : 4));
}

TEST_CASE("its servers are read with all that was given away, before and after") {
  Flock flock;
  flock.begin();
  flock.give(0, 3);
  const View view{flock.topology, flock.gpus,  {},        {},
                  flock.others,   flock.speed, flock.now, AgentId{2}};
  RemoteNeed one;
  CHECK(flock.peers.servers(view, flock.peer(0)).gpus(one) == 5);
  flock.give(0, 4);
  CHECK(flock.peers.servers(view, flock.peer(0)).gpus(one) == 1);
}

TEST_CASE("version grows with every digest that changes, and with nothing else") {
  Flock flock;
  flock.begin();
  const std::uint64_t version = flock.peers.version();
  flock.begin();
  CHECK(flock.peers.version() == version);
  --flock.digest(3).free;
  flock.begin();
  CHECK(flock.peers.version() == version + 1);
}

}  // namespace
}  // namespace starling
