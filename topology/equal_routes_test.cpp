// SPDX-License-Identifier: Apache-2.0
#include "topology/equal_routes.h"

#include <doctest/doctest.h>

#include <set>

#include "topology/generate/generate.h"

using namespace starling;

namespace {

Topology made(const char* kind) {
  GeneratorOptions options;
  options.servers = 24;
  options.servers_per_rack = 4;
  options.racks = 2;
  options.racks_per_pod = 2;
  options.racks_per_unit = 2;
  options.rails = 4;
  options.bcube_ports = 4;
  return generate(kind, options).value();
}

struct Ends {
  std::uint32_t from = 0, to = 0;
};
Ends ends_of(const Topology& topology, LinkDirection crossed) {
  const NetworkLink& link = topology.network_links()[crossed / 2];
  return crossed % 2 == 0 ? Ends{link.a, link.b} : Ends{link.b, link.a};
}

}  // namespace

// What could go wrong: a route that is longer than the shortest, has a gap, or crosses a link in
// the direction in which nothing is sent.
TEST_CASE("whatever the hash, a route is as short as the shortest and leads from end to end") {
  for (const char* kind :
       {"flat", "leaf-spine", "fat-tree", "vl2", "bcube", "dragonfly", "rail-optimised", "nvl72"}) {
    CAPTURE(kind);
    const Topology topology = made(kind);
    EqualRoutes routes(topology);
    std::vector<LinkDirection> between;
    for (std::uint32_t a = 0; a < topology.server_count(); ++a) {
      for (std::uint32_t b = 0; b < topology.server_count(); ++b) {
        const ServerId from{a};
        const ServerId to{b};
        const Route shortest = topology.route(from, to);
        const std::uint32_t ports = routes.ports(from, to);
        REQUIRE((ports > 0) == !shortest.links.empty());
        for (std::uint32_t port = 0; port < ports; ++port) {
          between.clear();
          routes.append(from, to, port, a + 77 * b, between);
          REQUIRE(between.size() == shortest.links.size() - 2);
          double latency_us = 0;
          for (std::size_t i = 0; i < between.size(); ++i) {
            latency_us += topology.network_links()[between[i] / 2].latency_us;
            if (i > 0)
              REQUIRE(ends_of(topology, between[i]).from == ends_of(topology, between[i - 1]).to);
          }
          if (between.empty()) continue;
          const auto linked = [&](std::uint32_t server, std::uint32_t node) {
            for (const NetworkLink& link : topology.network_links()) {
              if ((link.a == server && link.b == node) || (link.b == server && link.a == node))
                return true;
            }
            return false;
          };
          REQUIRE(linked(a, ends_of(topology, between.front()).from));
          REQUIRE(linked(b, ends_of(topology, between.back()).to));
          REQUIRE(latency_us < shortest.latency_us);
        }
      }
    }
  }
}

TEST_CASE("hashes spread over all equal routes, and each always takes the same") {
  const Topology topology = made("leaf-spine");
  EqualRoutes routes(topology);
  EqualRoutes others(topology);
  std::set<std::vector<LinkDirection>> taken;
  for (std::uint64_t hash = 0; hash < 100; ++hash) {
    std::vector<LinkDirection> one, again;
    routes.append(ServerId{0}, ServerId{23}, 0, hash, one);
    others.append(ServerId{0}, ServerId{23}, 0, hash, again);
    CHECK(one == again);
    taken.insert(one);
  }
  CHECK(taken.size() == 4);  // spines
}

TEST_CASE("a server of several ports begins a route at each") {
  const Topology topology = made("rail-optimised");
  EqualRoutes routes(topology);
  CHECK(routes.ports(ServerId{0}, ServerId{1}) == 4);
  CHECK(routes.ports(ServerId{0}, ServerId{0}) == 0);
}
