// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.h"

#include <doctest/doctest.h>

#include <numeric>

#include "topology/generate/generate.h"

namespace starling {
namespace {

std::vector<GpuId> gpus(std::initializer_list<std::uint32_t> ids) {
  std::vector<GpuId> out;
  for (const std::uint32_t id : ids) out.push_back(GpuId(id));
  return out;
}

TEST_CASE("every GPU knows its server, island, rack and pod") {
  const Topology t = generate_fat_tree({.servers = 16}).value();
  CHECK(t.server_count() == 16);
  CHECK(t.gpu_count() == 128);
  for (std::uint32_t g = 0; g < t.gpu_count(); ++g) {
    const ServerId server = t.server_of(GpuId(g));
    CHECK(server.value == g / 8);
    CHECK(t.island_of(GpuId(g)) == g / 4);
    CHECK(t.subtrees()[t.rack_of(server)].gpus.contains(g));
    CHECK(t.subtrees()[t.pod_of(server)].gpus.contains(g));
    CHECK(t.subtrees()[t.rack_of(server)].parent == t.pod_of(server));
  }
}

TEST_CASE("the tier of a gang is the slowest thing that it crosses") {
  const Topology t = generate_leaf_spine({.servers = 4, .servers_per_rack = 2}).value();
  CHECK(t.tier_of({}) == Tier::island);
  CHECK(t.tier_of(gpus({5})) == Tier::island);
  CHECK(t.tier_of(gpus({0, 3})) == Tier::island);
  CHECK(t.tier_of(gpus({0, 4})) == Tier::server);
  CHECK(t.tier_of(gpus({0, 8, 1})) == Tier::rack);
  CHECK(t.tier_of(gpus({9, 4, 0})) == Tier::rack);
  CHECK(t.tier_of(gpus({0, 8, 16})) == Tier::network);
}

TEST_CASE("routes go through the nearest common switch") {
  const Topology t = generate_fat_tree({.servers = 16, .link_latency_us = 2}).value();
  const auto hops = [&t](std::uint32_t a, std::uint32_t b) {
    return t.route(ServerId(a), ServerId(b)).links.size();
  };
  CHECK(hops(0, 0) == 0);
  CHECK(hops(0, 1) == 2);
  CHECK(hops(0, 2) == 4);
  CHECK(hops(0, 15) == 6);
  const Route route = t.route(ServerId(0), ServerId(15));
  CHECK(route.latency_us == doctest::Approx(12));
  CHECK(route.bottleneck_gbps == doctest::Approx(100));
  std::uint32_t at = 0;
  for (const std::uint32_t i : route.links) {
    const NetworkLink& link = t.network_links()[i];
    REQUIRE((link.a == at || link.b == at));
    at = link.a == at ? link.b : link.a;
  }
  CHECK(at == 15);
}

TEST_CASE("latency counts before hops, and hops decide among equal latencies") {
  Topology::Parts parts = generate_flat({.servers = 2}).value().parts();
  const auto add = [&parts](const char* name) {
    parts.nodes.push_back({name, false, {}});
    return static_cast<std::uint32_t>(parts.nodes.size() - 1);
  };
  const std::uint32_t a = add("a");
  const std::uint32_t b = add("b");
  const auto first = static_cast<std::uint32_t>(parts.links.size());
  parts.links.push_back({0, a, 10, 0.5});
  parts.links.push_back({a, b, 10, 0.5});
  parts.links.push_back({b, 1, 10, 0.5});
  CHECK(Topology(parts).route(ServerId(0), ServerId(1)).links ==
        std::vector<std::uint32_t>{first, first + 1, first + 2});
  parts.links[first].latency_us = 1;  // 2 us both ways now: two hops beat three
  CHECK(Topology(parts).route(ServerId(0), ServerId(1)).links == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("no route without a network or a way") {
  Topology::Parts parts = generate_flat({.servers = 2}).value().parts();
  parts.links.pop_back();
  CHECK(Topology(parts).route(ServerId(0), ServerId(1)).links.empty());
  parts.links.clear();
  parts.nodes.clear();
  CHECK(Topology(parts).route(ServerId(0), ServerId(1)).links.empty());
}

}  // namespace
}  // namespace starling
