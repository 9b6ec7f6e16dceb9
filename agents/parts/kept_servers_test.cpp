// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/kept_servers.h"

#include <doctest/doctest.h>

#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;
using Candidates = std::vector<KeptServers::Candidate>;

Instant at(Duration d) { return Instant{} + d; }

std::vector<std::uint32_t> ids(const KeptServers& kept) {
  std::vector<std::uint32_t> out;
  for (const ServerId server : kept.servers()) out.push_back(server.value);
  return out;
}

Topology two_racks() {
  GeneratorOptions options;
  options.servers = 8;
  options.servers_per_rack = 4;
  options.gpus_per_server = 4;
  return generate_leaf_spine(options).value();
}

Candidates free_after(std::vector<Duration> seconds) {
  Candidates out;
  for (std::uint32_t i = 0; i < seconds.size(); ++i)
    out.push_back({ServerId{i}, 4, at(seconds[i])});
  return out;
}

}  // namespace

TEST_CASE("those that are likely to be free first are kept, in one rack where that is possible") {
  const Topology topology = two_racks();
  const Candidates all = free_after({9s, 1s, 8s, 2s, 3s, 3s, 7s, 7s});
  KeptServers kept;
  kept.choose(topology, all, 4);
  CHECK(ids(kept) == std::vector<std::uint32_t>{1});
  kept.choose(topology, all, 5);  // a part of a server is a server
  CHECK(ids(kept) == std::vector<std::uint32_t>{1, 3});
  kept.choose(topology, all, 12);  // 8 s in the first rack, 7 s in the second
  CHECK(ids(kept) == std::vector<std::uint32_t>{4, 5, 6});
  kept.choose(topology, all, 20);  // no rack has so many
  CHECK(ids(kept) == std::vector<std::uint32_t>{1, 3, 4, 5, 6});
}

TEST_CASE("servers that can give nothing are not kept, and all others where they are too few") {
  const Topology topology = two_racks();
  Candidates all = free_after({1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s});
  all[0].gpus = all[5].gpus = 0;
  KeptServers kept;
  kept.choose(topology, all, 4);
  CHECK(ids(kept) == std::vector<std::uint32_t>{1});
  kept.choose(topology, all, 1000);
  CHECK(ids(kept) == std::vector<std::uint32_t>{1, 2, 3, 4, 6, 7});
}

TEST_CASE("others may use all but the kept servers, as they come and go") {
  const Topology topology = two_racks();
  Occupancy gpus(topology, {0, 8});
  KeptServers kept;
  kept.choose(topology, free_after({1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s}), 8);
  REQUIRE(ids(kept) == std::vector<std::uint32_t>{0, 1});
  CHECK(kept.rest_of(gpus).free_count() == 24);
  const std::vector<GpuId> here{GpuId{0}, GpuId{8}};
  gpus.take(here);
  CHECK(kept.rest_of(gpus).free_count() == 23);
  CHECK(kept.rest_of(gpus).tenants(GpuId{0}) == 1);
  CHECK_FALSE(kept.rest_of(gpus).has_room(GpuId{0}));
  gpus.give_back(here);
  CHECK(kept.rest_of(gpus).free_count() == 24);
  CHECK_FALSE(kept.rest_of(gpus).is_free(GpuId{0}));
  CHECK(kept.rest_of(gpus).is_free(GpuId{8}));
  CHECK(gpus.is_free(GpuId{0}));

  CHECK(kept.any_of(here, topology));
  CHECK_FALSE(kept.any_of(std::vector<GpuId>{GpuId{8}}, topology));
  CHECK_FALSE(kept.any_of(std::vector<GpuId>{GpuId{4'000'000}}, topology));
}

}  // namespace starling
