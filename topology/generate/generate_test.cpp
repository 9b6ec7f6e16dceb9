// SPDX-License-Identifier: Apache-2.0
#include "topology/generate/generate.h"

#include <doctest/doctest.h>

#include "topology/generate/test_counts.h"
#include "topology/network_plan.h"

namespace starling {
namespace {

using testing::count;
using testing::switches;

TEST_CASE("flat: one rack, one switch") {
  const Topology t = generate_flat({.servers = 5, .gpus_per_server = 4}).value();
  CHECK(t.name() == "flat-5x4");
  CHECK(t.gpu_count() == 20);
  CHECK(count(t, Level::pod) == 1);
  CHECK(count(t, Level::rack) == 1);
  CHECK(switches(t) == 1);
  CHECK(t.network_links().size() == 5);
}

TEST_CASE("leaf-spine: racks fill up, leaves reach every spine") {
  const Topology t =
      generate_leaf_spine({.servers = 20, .servers_per_rack = 8, .spines = 3}).value();
  CHECK(count(t, Level::pod) == 1);
  CHECK(count(t, Level::rack) == 3);
  CHECK(t.subtrees().back().servers == IndexRange{16, 20});
  CHECK(switches(t) == 6);
  CHECK(t.network_links().size() == 20 + 9);
  CHECK(t.network_links().back().gbps == doctest::Approx(8 * 100.0 / 3));
}

TEST_CASE("fat-tree: the textbook counts for k = 8") {
  const Topology t = generate_fat_tree({.servers = 0, .fat_tree_k = 8}).value();
  CHECK(t.server_count() == 128);
  CHECK(count(t, Level::pod) == 8);
  CHECK(count(t, Level::rack) == 32);
  CHECK(switches(t) == 32 + 32 + 16);
  CHECK(t.network_links().size() == 3 * 128);
}

TEST_CASE("fat-tree: the smallest even k that holds the servers") {
  CHECK(generate_fat_tree({.servers = 2}).value().name() == "fat-tree-k2-2x8");
  CHECK(generate_fat_tree({.servers = 3}).value().name() == "fat-tree-k4-3x8");
  CHECK(generate_fat_tree({.servers = 16}).value().name() == "fat-tree-k4-16x8");
  CHECK(generate_fat_tree({.servers = 17}).value().name() == "fat-tree-k6-17x8");
  CHECK_FALSE(generate_fat_tree({.servers = 17, .fat_tree_k = 4}).ok());
  CHECK_FALSE(generate_fat_tree({.servers = 2, .fat_tree_k = 3}).ok());
}

TEST_CASE("mixed GPU types stand in the order in which they are given") {
  const auto groups = parse_server_groups("8:V100,16:P100,24:K80");
  REQUIRE(groups.ok());
  const Topology t =
      generate("leaf-spine", {.groups = groups.value(), .gpus_per_server = 1}).value();
  CHECK(t.gpu_count() == 48);
  REQUIRE(t.gpu_types().size() == 3);
  CHECK(t.gpu_types()[t.type_of(GpuId(7)).value].name == "V100");
  CHECK(t.gpu_types()[t.type_of(GpuId(8)).value].name == "P100");
  CHECK(t.gpu_types()[t.type_of(GpuId(24)).value].name == "K80");
  CHECK(parse_server_groups("64", "T4").value() == std::vector<ServerGroup>{{64, "T4"}});
  for (const char* bad : {"", "0", "8:", ":V100", "8:V100,", "eight", "-1", "8 ", "99999999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_server_groups(bad).ok());
  }
}

TEST_CASE("options that cannot be are refused") {
  CHECK_FALSE(generate_flat({.servers = 0}).ok());
  CHECK_FALSE(generate_flat({.gpus_per_server = 0}).ok());
  CHECK_FALSE(generate_flat({.gpu_type = "V1000"}).ok());
  CHECK_FALSE(generate_flat({.servers = 1U << 20U, .gpus_per_server = 2}).ok());
  CHECK_FALSE(generate_flat({.nic_gbps = 0}).ok());
  CHECK_FALSE(generate_leaf_spine({.spines = 0}).ok());
  CHECK_FALSE(generate_leaf_spine({.link_latency_us = -1}).ok());
  CHECK(generate("torus", {}).error().code == Errc::not_found);
}

TEST_CASE("the plan of a generated network can be read off it") {
  for (const char* kind : {"flat", "leaf-spine", "fat-tree"}) {
    CAPTURE(kind);
    const Topology t = generate(kind, {.servers = 30}).value();
    const auto plan = infer_plan(t.parts());
    REQUIRE(plan.has_value());
    Topology::Parts again = t.parts();
    wire(*plan, again);
    CHECK(again == t.parts());
  }
  Topology::Parts odd = generate_leaf_spine({.servers = 30}).value().parts();
  odd.links[31].gbps += 1;
  CHECK_FALSE(infer_plan(odd).has_value());
}

}  // namespace
}  // namespace starling
