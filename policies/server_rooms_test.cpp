// SPDX-License-Identifier: Apache-2.0
// What a partition tells of the CPUs and memory beside its free GPUs, and what others read in it.
#include "topology/server_rooms.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "policies/partitions/remote_rooms.h"
#include "policies/testing/test_placements.h"
#include "topology/builder.h"
#include "topology/free_servers.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

constexpr std::int64_t kOne = 1'000'000;

Demand amount(std::int64_t cpus, std::int64_t gib) { return {cpus * kOne, gib * kOne}; }

Topology cluster(std::vector<ServerGroup> groups, double cpus = 64) {
  GeneratorOptions options;
  options.groups = std::move(groups);
  options.gpus_per_server = 4;
  options.cpus = cpus;
  return generate_flat(options).value();
}

/// Servers of so many GPUs, five of V100 and then of P100, with 16 CPUs for each.
Topology unequal(const std::vector<std::uint32_t>& sizes) {
  TopologyBuilder builder("unequal");
  builder.begin_pod();
  builder.begin_rack();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Server server;
    server.gpu_type = builder.gpu_type({i < 5 ? "V100" : "P100", 16});
    server.cpus = 16.0 * sizes[i];
    server.memory_gib = 128.0 * sizes[i];
    builder.add_server(server, sizes[i]);
  }
  return std::move(builder).build();
}

/// What a partition says, kept as long as its digest.
struct Said {
  explicit Said(const Occupancy& gpus, bool says_rooms = true) {
    if (says_rooms) kept.read(gpus, rooms);
    FreeServers free;
    free.sync(gpus);
    free.rooms(types);
    digest.agent = AgentId{1};
    digest.gpus = gpus.gpus().size();
    digest.free = gpus.free_count();
    digest.largest_free_server = gpus.largest_free_server();
    digest.servers = gpus.servers();
    digest.types = types;
    digest.rooms = rooms;
  }
  ServerRooms kept;
  std::vector<ServerRoom> rooms;
  std::vector<TypeRoom> types;
  RemoteDigest digest;
};

JobSpec needy(std::uint32_t workers, std::uint32_t gpus_per_worker, double cpus, double memory) {
  JobSpec job;
  job.workers = workers;
  job.gpus_per_worker = gpus_per_worker;
  job.cpus_per_worker = cpus;
  job.memory_gib_per_worker = memory;
  return job;
}

TEST_CASE("rooms are told once a job takes CPUs or memory, equal servers together") {
  const Topology topology = cluster({{3, "V100"}, {1, "P100"}});
  Occupancy gpus(topology, {0, 4});
  ServerRooms kept;
  std::vector<ServerRoom> rooms;
  gpus.take(range(0, 2));
  kept.read(gpus, rooms);
  CHECK(rooms.empty());
  gpus.take(range(4, 5), amount(60, 0));
  kept.read(gpus, rooms);
  const GpuTypeId v100 = topology.server(ServerId{0}).gpu_type;
  const GpuTypeId p100 = topology.server(ServerId{3}).gpu_type;
  const Demand all = amount(64, 512);
  const std::vector<ServerRoom> expected{
      {v100, 4, 1, all}, {p100, 4, 1, all}, {v100, 3, 1, amount(4, 512)}, {v100, 2, 1, all}};
  CHECK(std::is_permutation(rooms.begin(), rooms.end(), expected.begin(), expected.end()));
  CHECK(std::ranges::is_sorted(rooms, std::greater<>(), &ServerRoom::free));
  gpus.give_back(range(0, 2));
  gpus.take(range(5, 8));  // all of that server's GPUs are taken
  kept.read(gpus, rooms);
  CHECK(rooms.size() == 2);
  CHECK(std::ranges::find(rooms, ServerRoom{v100, 4, 2, all}) != rooms.end());
  gpus.give_back(range(4, 5), amount(60, 0));
  kept.read(gpus, rooms);
  CHECK(rooms.empty());
}

TEST_CASE("what is kept across calls is what a fresh look finds") {
  const Topology topology = cluster({{20, "V100"}, {20, "P100"}});
  Occupancy gpus(topology, {4, 36});
  ServerRooms kept;
  std::vector<ServerRoom> rooms, fresh;
  struct Taken {
    Placement gpus;
    Demand each;
  };
  std::vector<Taken> taken;
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t server = 4 + rng.below(32);
    const Demand each = amount(rng.below(3) * 8, rng.below(3) * 100);
    if (rng.chance(0.5) && gpus.free_on(ServerId{server}, each) > 0) {
      taken.push_back({gpus.free_gpus(ServerId{server}, 1), each});
      gpus.take(taken.back().gpus, each);
    } else if (!taken.empty()) {
      std::swap(taken[rng.below(static_cast<std::uint32_t>(taken.size()))], taken.back());
      gpus.give_back(taken.back().gpus, taken.back().each);
      taken.pop_back();
    }
    if (rng.chance(0.1)) gpus.set_blocked(GpuId{4 * server}, rng.chance(0.5));
    if (rng.chance(0.7)) continue;  // several changes between two looks
    kept.read(gpus, rooms);
    ServerRooms().read(gpus, fresh);
    REQUIRE(rooms == fresh);
    std::uint64_t free = 0;
    for (const ServerRoom& room : rooms) free += std::uint64_t{room.free} * room.servers;
    REQUIRE((rooms.empty() ? !gpus.any_taken() : free == gpus.free_count()));
  }
}

TEST_CASE("more rooms than are told become fewer, and never say more than there is") {
  std::vector<ServerRoom> rooms;
  for (std::int64_t i = 200; i > 0; --i) rooms.push_back({{}, 2, 1, {i * kOne / 3, 500 * kOne}});
  std::vector<ServerRoom> fewer = rooms;
  make_fewer(fewer, 64);
  CHECK(fewer.size() <= 64);
  CHECK(fewer.size() > 20);  // and no less than it need be
  std::uint32_t servers = 0;
  for (const ServerRoom& room : fewer) servers += room.servers;
  CHECK(servers == 200);
  for (std::int64_t cpus = 1; cpus < 70; ++cpus) {
    const auto goes = [&](const std::vector<ServerRoom>& all) {
      std::uint64_t gpus = 0;
      for (const ServerRoom& room : all)
        gpus += std::uint64_t{room.servers} * room.gpus_for(amount(cpus, 1));
      return gpus;
    };
    CAPTURE(cpus);
    CHECK(goes(fewer) <= goes(rooms));
    CHECK(goes(fewer) + 24 >= goes(rooms));
  }
  // Where rounding does not help, the smallest are left out.
  rooms.clear();
  for (std::uint32_t i = 100; i > 0; --i) rooms.push_back({{}, i, 1, {0, ServerRoom::kAnyAmount}});
  make_fewer(rooms, 64);
  REQUIRE(rooms.size() == 64);
  CHECK(rooms.back().free == 37);
}

TEST_CASE("whether a job starts elsewhere is what that partition would find itself") {
  Topology topology = cluster({{5, "V100"}, {3, "P100"}});
  bool equal = true;
  SUBCASE("servers are equal") {}
  SUBCASE("servers differ in size: or less") {
    topology = unequal({4, 4, 4, 2, 2, 3, 1, 2});
    equal = false;
  }
  Rng rng(7);
  std::uint32_t starts = 0;
  for (int i = 0; i < 3000; ++i) {
    Occupancy gpus(topology, {2, 8});
    for (std::uint32_t s = 2; s < 8; ++s) {
      const Demand each = amount(rng.below(4) * 8, rng.below(4) * 64);
      const std::uint32_t most = gpus.free_on(ServerId{s}, each);
      gpus.take(gpus.free_gpus(ServerId{s}, rng.below(most + 1)), each);
    }
    gpus.take(gpus.free_count() > 0 ? *gpus.lowest_free(1) : Placement{}, amount(0, 1));
    JobSpec job = needy(1 + rng.below(8), 1 + rng.below(2), 8 * rng.below(4), 100 * rng.below(3));
    if (rng.chance(0.3)) job.gpu_types = {rng.chance(0.5) ? "V100" : "P100"};
    if (!demand_of(job).any()) continue;
    const Said said(gpus);
    const RemoteRooms rooms(topology, said.digest);
    for (const Fit fit : {Fit::server, Fit::count}) {
      const bool here = place(gpus, shape_of(gpus), job, fit).has_value();
      const bool there = rooms.start(need_of(job, topology), fit, shape_for(gpus, job),
                                     goes_in_pieces(gpus, job, fit));
      CHECK((equal ? here == there : !here || there));
      starts += here ? 1 : 0;
    }
  }
  CHECK(starts > 500);
}

TEST_CASE("a View that says nothing of servers has them whole, as far as the topology allows") {
  const Topology topology = cluster({{2, "V100"}, {2, "P100"}}, 16);
  Occupancy gpus(topology, {0, 4});
  gpus.take(range(0, 2) + range(8, 12));
  for (const bool says_rooms : {true, false}) {
    const Said said(gpus, says_rooms);  // nothing is taken: nothing is said
    const RemoteRooms rooms(topology, said.digest);
    const auto largest = [&](const JobSpec& job) { return rooms.largest(need_of(job, topology)); };
    CHECK(largest(needy(1, 1, 4, 0)) == 4);
    CHECK(largest(needy(1, 1, 8, 0)) == 2);
    CHECK(largest(needy(1, 1, 17, 0)) == 0);
    CHECK(rooms.gpus(need_of(needy(10, 1, 4, 0), topology)) == 10);
  }
  // A protocol of no types either: the counts of all types together.
  Said old(gpus, false);
  old.digest.types = {};
  CHECK(RemoteRooms(topology, old.digest).largest(need_of(needy(1, 1, 4, 0), topology)) == 4);
}

TEST_CASE("what is given away is there no more") {
  const Topology topology = cluster({{2, "V100"}});
  Occupancy gpus(topology, {0, 2});
  gpus.take(range(0, 1), amount(40, 0));  // leaves 24 CPUs with 3 GPUs, and 64 with 4
  const Said said(gpus);
  RemoteRooms rooms(topology, said.digest);
  const auto goes = [&](double cpus) {
    return rooms.gpus(need_of(needy(8, 1, cpus, 0), topology));
  };
  CHECK(goes(16) == 5);
  rooms.take(need_of(needy(1, 1, 20, 0), topology));  // the tighter one
  CHECK(goes(16) == 4);
  CHECK(goes(4) == 5);
  rooms.take(need_of(needy(2, 1, 32, 0), topology));
  CHECK(goes(16) == 0);
  CHECK(goes(4) == 1);
  rooms.take(need_of(needy(9, 1, 0, 1), topology));  // more than there is
  CHECK(goes(0.001) == 0);
}

TEST_CASE("a partition's capacity is what it holds when all is free") {
  const Topology topology = cluster({{2, "V100"}, {2, "P100"}});
  Occupancy gpus(topology, {0, 4});
  gpus.take(range(0, 16), amount(1, 1));
  const Said said(gpus);
  RemoteCapacity capacity;
  const auto holds = [&](std::uint32_t look, const JobSpec& job) {
    return capacity.of(topology, said.digest, look, job, Fit::server).holds;
  };
  CHECK(holds(1, needy(4, 1, 16, 0)));
  CHECK(holds(2, needy(4, 1, 64, 0)));  // one on each server
  CHECK_FALSE(holds(3, needy(5, 1, 64, 0)));
  JobSpec typed = needy(3, 1, 64, 0);
  typed.gpu_types = {"P100"};
  CHECK_FALSE(holds(4, typed));
  const GpuTypeId p100 = topology.server(ServerId{3}).gpu_type;
  CHECK(capacity.gpus(topology, said.digest, 4, need_of(typed, topology), p100) == 2);
}

}  // namespace
}  // namespace starling
