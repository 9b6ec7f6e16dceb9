// SPDX-License-Identifier: Apache-2.0
// What is known of other partitions: digests, less what was given away since they were written.
#include "policies/partitions/remote_partitions.h"

#include <doctest/doctest.h>

#include <map>
#include <tuple>

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
    peers.note_forward(view, AgentId{to}, need);
  }
  const RemoteRooms& servers(const RemotePartition& of) {
    const View view{topology, gpus, {}, {}, others, speed, now, AgentId{2}};
    return peers.servers(view, of);
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
  SUBCASE("a digest of another agent") {
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

TEST_CASE("a digest is read once, unless its writer says another") {
  Flock flock;
  for (RemoteDigest& d : flock.others) d.version = 7;
  flock.begin();
  flock.digest(0).free = 5;
  flock.begin();
  CHECK(flock.peer(0).free == 8);
  CHECK(flock.peer(0).digest == &flock.digest(0));
  flock.digest(0).version = 8;
  flock.begin();
  CHECK(flock.peer(0).free == 5);
  flock.digest(0).at = flock.now - RemotePartitions::kFresh - Duration(1);
  flock.digest(0).free = 4;
  flock.begin();
  flock.digest(0).at = flock.now;
  flock.begin();
  CHECK(flock.peer(0).free == 4);  // it was out of sight in between
}

/// What one of two says of its peers, digests with and without versions.
void check_equal(Flock& kept, Flock& fresh) {
  REQUIRE(kept.begin() == fresh.begin());
  REQUIRE(kept.peers.version() == fresh.peers.version());
  REQUIRE(std::ranges::equal(kept.peers.all_types(), fresh.peers.all_types()));
  REQUIRE(kept.peers.count() == fresh.peers.count());
  RemoteNeed one, typed;
  typed.gpus = 2;
  typed.typed = true;
  typed.types = {kept.v100};
  for (std::size_t i = 0; i < kept.peers.count(); ++i) {
    const RemotePartition& a = kept.peers.all()[i];
    const RemotePartition& b = fresh.peers.all()[i];
    REQUIRE(a.digest == &kept.digest(a.agent.value));
    REQUIRE(std::tuple(a.agent, a.gpus, a.free, a.largest, a.whole, a.waiting, a.waiting_gpus,
                       a.distance) == std::tuple(b.agent, b.gpus, b.free, b.largest, b.whole,
                                                 b.waiting, b.waiting_gpus, b.distance));
    const auto types = fresh.peers.types(b);
    REQUIRE(std::ranges::equal(kept.peers.types(a), types, [](const auto& x, const auto& y) {
      return std::tuple(x.type, x.gpus, x.free, x.largest, x.open) ==
             std::tuple(y.type, y.gpus, y.free, y.largest, y.open);
    }));
    if ((i + kept.now.time_since_epoch().count()) % 2 == 0) continue;  // servers: now and then
    for (const RemoteNeed& need : {one, typed})
      REQUIRE(kept.servers(a).gpus(need) == fresh.servers(b).gpus(need));
  }
}

TEST_CASE("what is kept from call to call is what a look at all digests says") {
  Flock kept, fresh;
  Rng rng(5);
  std::uint64_t version = 0;
  const std::vector<RemoteDigest> all = kept.others;
  for (RemoteDigest& d : kept.others) d.version = ++version;
  check_equal(kept, fresh);
  for (int step = 0; step < 4000; ++step) {
    for (Flock* flock : {&kept, &fresh}) {
      Rng same = rng.fork(static_cast<std::uint64_t>(step));
      flock->now += Duration(same.below(2)) + std::chrono::seconds(same.chance(0.1) ? 3 : 0);
      if (same.chance(0.02)) flock->now += std::chrono::minutes(6);
      const std::uint32_t agents[] = {0, 1, 3};
      const std::uint32_t who = agents[same.below(3)];
      const auto here = std::ranges::find(flock->others, AgentId{who}, &RemoteDigest::agent);
      if (here == flock->others.end()) {
        if (!same.chance(0.5)) continue;
        flock->others.push_back(*std::ranges::find(all, AgentId{who}, &RemoteDigest::agent));
        flock->others.back().at = flock->now;
        std::ranges::sort(flock->others, {}, &RemoteDigest::agent);
        if (flock == &kept) flock->digest(who).version = ++version;
      } else if (same.chance(0.03)) {
        flock->others.erase(here);
      } else if (same.chance(0.3)) {
        here->free = same.below(here->gpus + 1);
        here->largest_free_server = std::min(here->free, 4U);
        here->whole_free_servers = here->free / 4;
        here->waiting_gpus = same.below(3);
        here->at = flock->now;
        if (flock == &kept) here->version = ++version;
      } else if (same.chance(0.3)) {
        flock->give(who, 1 + same.below(5),
                    same.chance(0.5) ? std::vector{flock->p100} : std::vector<GpuTypeId>{});
      }
    }
    check_equal(kept, fresh);
  }
}

}  // namespace
}  // namespace starling
