// SPDX-License-Identifier: Apache-2.0
#include "scheduling/packing.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "policies/testing/test_placements.h"
#include "topology/builder.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

Topology servers(std::vector<ServerGroup> groups) {
  GeneratorOptions options;
  options.groups = std::move(groups);
  return generate_flat(options).value();
}
JobSpec gang(std::uint32_t workers, std::uint32_t gpus_per_worker,
             std::vector<std::string> types = {}) {
  JobSpec job;
  job.workers = workers;
  job.gpus_per_worker = gpus_per_worker;
  job.gpu_types = std::move(types);
  return job;
}

TEST_CASE("a gang goes to the fullest server that holds it, the lowest among equals") {
  const Topology topology = servers({{4, "V100"}});
  Occupancy gpus(topology, {0, 4});
  gpus.take(range(8, 13) + range(24, 29));  // servers 1 and 3 have 3 free
  const Shape shape = shape_of(gpus);
  CHECK(place_server(gpus, shape, 3, 1) == range(13, 16));
  CHECK(place_server(gpus, shape, 4, 1) == range(0, 4));
  CHECK(place_count(gpus, 22) == range(0, 8) + range(13, 24) + range(29, 32));
  CHECK(!place_count(gpus, 23));
}

TEST_CASE("a large gang takes whole servers and the fullest that holds the rest") {
  const Topology topology = servers({{4, "V100"}});
  Occupancy gpus(topology, {0, 4});
  gpus.take(range(0, 2));
  const Shape shape = shape_of(gpus);
  CHECK(place_server(gpus, shape, 16, 8) == range(8, 24));
  CHECK(place_server(gpus, shape, 20, 4) == range(2, 6) + range(8, 24));
  CHECK(place_server(gpus, shape, 24, 8) == range(8, 32));
  CHECK(!place_server(gpus, shape, 32, 8));
  // The rest of 7 finds no part of a server, so it takes the next whole one.
  CHECK(place_server(gpus, shape, 15, 1) == range(8, 23));
}

TEST_CASE("where servers differ too much for whole ones a large gang takes what there is") {
  TopologyBuilder builder("mixed");
  const GpuTypeId type = builder.gpu_type({"V100", 16});
  builder.begin_pod();
  builder.begin_rack();
  Server server;
  server.gpu_type = type;
  for (const std::uint32_t gpus : {8U, 3U, 3U, 5U}) builder.add_server(server, gpus);
  const Topology topology = std::move(builder).build();
  Occupancy gpus(topology, {0, 4});
  const Shape shape = shape_of(gpus);
  REQUIRE(shape.server == 3);
  // Never on servers of three GPUs alone: five of them would be needed.
  CHECK(place_server(gpus, shape, 16, 1).value().size() == 16);
  CHECK(place_server(gpus, shape, 19, 1) == range(0, 19));
  CHECK(!place_server(gpus, shape, 20, 1));
  // Workers of two GPUs: 4, 1, 1 and 2 of them.
  CHECK(place_server(gpus, shape, 16, 2).value().size() == 16);
  CHECK(!place_server(gpus, shape, 18, 2));
  // Two whole ones are enough, so it waits for them.
  gpus.take(range(0, 9));
  CHECK(!place_server(gpus, shape, 6, 3));
}

TEST_CASE("workers that do not divide a server are not split over two") {
  const Topology topology = servers({{4, "V100"}});
  Occupancy gpus(topology, {0, 4});
  const auto placed = place(gpus, shape_of(gpus), gang(4, 3), Fit::server);
  REQUIRE(placed);
  CHECK(*placed == range(0, 6) + range(8, 14));
  CHECK(place_workers(gpus, 7, 3) == range(0, 6));
  CHECK(place_workers(gpus, 40, 8) == range(0, 32));
  CHECK(place_workers(gpus, 2, 3).empty());
  CHECK(place_workers(gpus, 9, 9).empty());
}

TEST_CASE("an offer takes whole servers first and leaves no hole it need not") {
  const Topology topology = servers({{3, "V100"}});
  Occupancy gpus(topology, {0, 3});
  gpus.take(range(0, 5));
  CHECK(place_workers(gpus, 10, 1) == range(0 + 5, 7) + range(8, 16));
  gpus.take(range(8, 10));
  CHECK(place_workers(gpus, 17, 2) == range(5, 7) + range(10, 24));
}

TEST_CASE("a job with GPU types gets those alone") {
  const Topology topology = servers({{2, "V100"}, {2, "P100"}});
  Occupancy gpus(topology, {0, 4});
  const Shape shape = shape_of(gpus);
  CHECK(place(gpus, shape, gang(1, 4, {"P100"}), Fit::server) == range(16, 20));
  CHECK(place(gpus, shape, gang(2, 8, {"P100"}), Fit::server) == range(16, 32));
  CHECK(place(gpus, shape, gang(12, 1, {"P100"}), Fit::count) == range(16, 28));
  CHECK(!place(gpus, shape, gang(3, 8, {"P100"}), Fit::server));
  CHECK(!place(gpus, shape, gang(1, 1, {"K80"}), Fit::count));
}

TEST_CASE("a trial sees what was taken and leaves the original alone") {
  const Topology topology = servers({{1, "V100"}});
  const Occupancy gpus(topology, {0, 1});
  Mirror mirror;
  Trial trial(mirror, gpus);
  trial.take(range(0, 3));
  trial.take(range(3, 4));
  CHECK(trial.free_count() == 4);
  CHECK(trial.gpus().lowest_free(1) == range(4, 5));
  CHECK(gpus.free_count() == 8);
}

/// place_server() for workers of one GPU, by going over every server.
std::optional<Placement> naive_server(const Occupancy& gpus, const Shape& shape,
                                      std::uint32_t count) {
  const auto best = [&](std::uint32_t wanted, const std::vector<ServerId>& but) {
    std::optional<ServerId> found;
    for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s) {
      const std::uint32_t free = gpus.free_on(ServerId{s});
      if (free < wanted || std::find(but.begin(), but.end(), ServerId{s}) != but.end()) continue;
      if (!found || free < gpus.free_on(*found)) found = ServerId{s};
    }
    return found;
  };
  if (const auto one = best(count, {})) return gpus.free_gpus(*one, count);
  if (count <= shape.server) return std::nullopt;
  const auto whole = gpus.whole_free_servers(shape.server, count / shape.server);
  if (whole.size() < count / shape.server) return std::nullopt;
  Placement out;
  for (const ServerId server : whole) out = out + gpus.free_gpus(server, shape.server);
  if (const std::uint32_t rest = count % shape.server; rest > 0) {
    const auto server = best(rest, whole);
    if (!server) return std::nullopt;
    out = out + gpus.free_gpus(*server, rest);
  }
  std::sort(out.begin(), out.end());
  return out;
}

JobSpec needy(std::uint32_t workers, std::uint32_t gpus_per_worker, double cpus,
              double memory = 0) {
  JobSpec job = gang(workers, gpus_per_worker);
  job.cpus_per_worker = cpus;
  job.memory_gib_per_worker = memory;
  return job;
}

// Servers of 8 GPUs with 64 CPUs and 512 GiB.
TEST_CASE("no server gives away more CPUs or memory than it has") {
  const Topology topology = servers({{3, "V100"}});
  Occupancy gpus(topology, {0, 3});
  const Shape shape = shape_of(gpus);
  const auto start = [&](const JobSpec& job, Fit fit) {
    const auto found = place(gpus, shape, job, fit);
    if (found) gpus.take(*found, demand_of(job));
    return found;
  };
  CHECK(start(needy(1, 1, 64), Fit::server) == range(0, 1));
  CHECK(start(needy(1, 1, 0, 512), Fit::server) == range(1, 2));  // the memory is still there
  CHECK(start(needy(1, 1, 1), Fit::server) == range(8, 9));
  CHECK(start(needy(1, 1, 0, 1), Fit::count) == range(9, 10));
  CHECK(start(gang(1, 6), Fit::server) == range(2, 8));  // who asks for nothing takes nothing
  CHECK(start(needy(8, 1, 8), Fit::server) == range(16, 24));
  CHECK_FALSE(start(needy(1, 1, 63.5), Fit::server));
  CHECK(start(needy(1, 1, 63), Fit::count) == range(10, 11));
  gpus.give_back(range(16, 24), demand_of(needy(8, 1, 8)));
  CHECK(gpus.taken_on(ServerId{2}) == Demand{});
  CHECK(start(needy(1, 1, 63.5), Fit::server) == range(16, 17));
}

TEST_CASE("a gang that no server can wholly serve takes as much of each as goes") {
  const Topology topology = servers({{3, "V100"}});
  const Occupancy gpus(topology, {0, 3});
  const Shape shape = shape_of(gpus);
  // 16 CPUs with each GPU: four GPUs of a server.
  CHECK(place(gpus, shape, needy(4, 1, 16), Fit::server) == range(0, 4));
  CHECK(place(gpus, shape, needy(6, 1, 16), Fit::server) == range(0, 4) + range(8, 10));
  CHECK(place(gpus, shape, needy(6, 2, 32), Fit::server) ==
        range(0, 4) + range(8, 12) + range(16, 20));
  CHECK_FALSE(place(gpus, shape, needy(13, 1, 16), Fit::count));
  CHECK(place_workers(gpus, 24, 1, demand_of(needy(1, 1, 16))).size() == 12);
  CHECK(place_workers(gpus, 24, 3, demand_of(needy(1, 1, 16))).size() == 9);
}

TEST_CASE("CPUs and memory are counted by server, whatever comes and goes") {
  const Topology topology = servers({{4, "V100"}});
  Occupancy gpus(topology, {0, 4}, 2);
  Occupancy copy = gpus;
  Rng rng(8);
  struct Held {
    Placement gpus;
    Demand each;
  };
  std::vector<Held> held;
  for (int step = 0; step < 3000; ++step) {
    if (!held.empty() && rng.chance(0.45)) {
      const std::size_t i = rng.below(static_cast<std::uint32_t>(held.size()));
      gpus.give_back(held[i].gpus, held[i].each);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      const auto room = [&](GpuId gpu) { return gpus.has_room(gpu); };
      Placement some;
      for (std::uint32_t g = 0; g < 32; ++g) {
        if (rng.chance(0.1) && room(GpuId{g})) some.push_back(GpuId{g});
      }
      const Demand each{rng.below(30) * 1'000'000, rng.below(300) * 1'000'000};
      if (some.empty() || !gpus.has_means(some, each)) continue;
      gpus.take(some, each);
      held.push_back({some, each});
    }
    copy.follow(gpus);
    for (std::uint32_t s = 0; s < 4; ++s) {
      Demand sum;
      for (const Held& h : held) {
        for (const GpuId gpu : h.gpus) {
          if (topology.server_of(gpu).value != s) continue;
          sum.cpus += h.each.cpus;
          sum.memory += h.each.memory;
        }
      }
      REQUIRE(gpus.taken_on(ServerId{s}) == sum);
      REQUIRE(copy.taken_on(ServerId{s}) == sum);
      REQUIRE(sum.cpus <= 64'000'000);
      REQUIRE(sum.memory <= 512'000'000);
    }
  }
}

TEST_CASE("large and small gangs go where a look at every server puts them") {
  const Topology topology = servers({{9, "V100"}});
  Occupancy gpus(topology, {1, 9});
  const Shape shape = shape_of(gpus);
  CHECK(shape.gpus == 64);
  CHECK(shape.server == 8);
  Rng rng(6);
  for (int step = 0; step < 2000; ++step) {
    const std::uint32_t server = 1 + rng.below(8);
    const GpuId gpu{rng.chance(0.5) ? server * 8 : 8 + rng.below(64)};
    const bool is_free = gpus.is_free(gpu);
    if (is_free && rng.chance(0.4)) gpus.take(std::vector{gpu});
    if (!is_free) gpus.give_back(std::vector{gpu});
    const std::uint32_t count = 1 + rng.below(40);
    REQUIRE(place_server(gpus, shape, count, 1) == naive_server(gpus, shape, count));
    const Placement some = place_workers(gpus, count, 1);
    REQUIRE(some.size() == std::min(count, gpus.free_count()));
  }
}

}  // namespace
}  // namespace starling
