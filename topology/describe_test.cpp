// SPDX-License-Identifier: Apache-2.0
#include "topology/describe.h"

#include <doctest/doctest.h>

#include "topology/file/load.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a description names counts, types, links and the bisection") {
  const std::string text = describe(generate_leaf_spine({.servers = 64}).value());
  CAPTURE(text);
  CHECK(holds(text, "leaf-spine-64x8: 512 GPUs in 64 servers, 8 racks, 1 pod\n"));
  CHECK(holds(text, "  V100: 512, 16 GiB each\n"));
  CHECK(holds(text, "  64 servers: 8 x V100, 64 CPUs, 512 GiB, NIC 100 Gbit/s, islands of 4"));
  const Topology silent = generate_flat({.servers = 2, .cpus = 0, .memory_gib = 0}).value();
  CHECK(holds(describe(silent), "any number of CPUs (none is said), any memory (none is said)"));
  CHECK(holds(text, "network: 12 switches\n"));
  CHECK(holds(text, "  32 links: switch of layer 1 to switch of layer 2, 200 Gbit/s, 1 us\n"));
  CHECK(holds(text, "bisection: 3200 Gbit/s\n"));
}

TEST_CASE("a GPU is named by its server") {
  const Topology t = generate_flat({.servers = 3}).value();
  CHECK(gpu_name(t, GpuId(11)) == "p0-r0-s1/gpu3");
}

TEST_CASE("a fat-tree has full bisection") {
  CHECK(bisection_gbps(generate_fat_tree({.servers = 128}).value()) == doctest::Approx(64 * 100));
}

TEST_CASE("a sound network has no findings") {
  for (const char* kind : {"flat", "leaf-spine", "fat-tree"}) {
    CAPTURE(kind);
    CHECK(check_topology(generate(kind, {.servers = 16}).value()).empty());
  }
}

TEST_CASE("isolated servers, pieces and oversubscription are found") {
  Topology::Parts parts = generate_leaf_spine({.servers = 16}).value().parts();
  parts.links.erase(parts.links.begin());
  auto found = check_topology(Topology(parts));
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Finding::Severity::error);
  CHECK(holds(found[0].message, "1 server has no link, p0-r0-s0 first"));

  parts = generate_leaf_spine({.servers = 16}).value().parts();
  parts.links.resize(16);
  found = check_topology(Topology(parts));
  REQUIRE(found.size() == 1);
  CHECK(holds(found[0].message, "in 2 pieces"));

  found = check_topology(generate_leaf_spine({.servers = 16, .uplink_gbps = 50}).value());
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Finding::Severity::warning);
  CHECK(holds(found[0].message, "2 racks are oversubscribed, at worst 4.00 : 1 in p0-r0"));
  found = check_topology(
      generate_leaf_spine({.servers = 12, .servers_per_rack = 8, .uplink_gbps = 100}).value());
  REQUIRE(found.size() == 1);
  CHECK(holds(found[0].message, "1 rack is oversubscribed, at worst "));

  parts.nodes.clear();
  parts.links.clear();
  CHECK(holds(check_topology(Topology(parts))[0].message, "no network"));
}

}  // namespace
}  // namespace starling
