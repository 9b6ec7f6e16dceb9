#include "policies/packing.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "topology/generate.h"

namespace starling {
namespace {

Placement range(std::uint32_t first, std::uint32_t last) {
  Placement out;
  for (std::uint32_t i = first; i < last; ++i) out.push_back(GpuId{i});
  return out;
}
Placement operator+(Placement a, const Placement& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
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
  CHECK(place_node(gpus, shape, 3, 1) == range(13, 16));
  CHECK(place_node(gpus, shape, 4, 1) == range(0, 4));
  CHECK(place_count(gpus, 22) == range(0, 8) + range(13, 24) + range(29, 32));
  CHECK(!place_count(gpus, 23));
}

TEST_CASE("a large gang takes whole servers and the fullest that holds the rest") {
  const Topology topology = servers({{4, "V100"}});
  Occupancy gpus(topology, {0, 4});
  gpus.take(range(0, 2));
  const Shape shape = shape_of(gpus);
  CHECK(place_node(gpus, shape, 16, 8) == range(8, 24));
  CHECK(place_node(gpus, shape, 20, 4) == range(2, 6) + range(8, 24));
  CHECK(place_node(gpus, shape, 24, 8) == range(8, 32));
  CHECK(!place_node(gpus, shape, 32, 8));
  // The rest of 7 finds no part of a server, so it takes the next whole one.
  CHECK(place_node(gpus, shape, 15, 1) == range(8, 23));
}

TEST_CASE("workers that do not divide a server are not split over two") {
  const Topology topology = servers({{4, "V100"}});
  Occupancy gpus(topology, {0, 4});
  const auto placed = place(gpus, shape_of(gpus), gang(4, 3), Fit::node);
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
  CHECK(place(gpus, shape, gang(1, 4, {"P100"}), Fit::node) == range(16, 20));
  CHECK(place(gpus, shape, gang(2, 8, {"P100"}), Fit::node) == range(16, 32));
  CHECK(place(gpus, shape, gang(12, 1, {"P100"}), Fit::count) == range(16, 28));
  CHECK(!place(gpus, shape, gang(3, 8, {"P100"}), Fit::node));
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

/// place_node() for workers of one GPU, by going over every server.
std::optional<Placement> naive_node(const Occupancy& gpus, const Shape& shape,
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
    REQUIRE(place_node(gpus, shape, count, 1) == naive_node(gpus, shape, count));
    const Placement some = place_workers(gpus, count, 1);
    REQUIRE(some.size() == std::min(count, gpus.free_count()));
  }
}

}  // namespace
}  // namespace starling
