// SPDX-License-Identifier: Apache-2.0
#include "topology/partition.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>

#include "topology/cuts.h"
#include "topology/file/load.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

// Covers everything, overlaps nowhere, and no agent is left without GPUs.
void check_cover(const Topology& t, const std::vector<Partition>& parts, std::uint32_t count) {
  REQUIRE(parts.size() == count);
  std::uint32_t server = 0;
  std::uint32_t gpu = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    REQUIRE(parts[i].id == PartitionId(i));
    REQUIRE(parts[i].servers.first == server);
    REQUIRE(parts[i].gpus.first == gpu);
    REQUIRE(parts[i].gpus.size() > 0);
    server = parts[i].servers.last;
    gpu = parts[i].gpus.last;
  }
  REQUIRE(server == t.server_count());
  REQUIRE(gpu == t.gpu_count());
}

double worst_share(const Topology& t, const std::vector<Partition>& parts) {
  const double share = static_cast<double>(t.gpu_count()) / static_cast<double>(parts.size());
  double worst = 0;
  for (const Partition& p : parts) worst = std::max(worst, std::abs(p.gpus.size() / share - 1));
  return worst;
}

bool between_racks(const Topology& t, std::uint32_t border) {
  return t.rack_of(ServerId(border - 1)) != t.rack_of(ServerId(border));
}

TEST_CASE("partitions cover, do not overlap, and are even where they can be") {
  for (const std::uint32_t servers : {1U, 2U, 7U, 30U, 64U, 257U}) {
    for (const char* kind : {"flat", "leaf-spine", "fat-tree"}) {
      const Topology t = generate(kind, {.servers = servers}).value();
      for (const std::uint32_t count : {1U, 2U, 3U, 4U, 7U, 16U, 64U}) {
        CAPTURE(kind);
        CAPTURE(servers);
        CAPTURE(count);
        const auto parts = partition(t, count);
        REQUIRE(parts.ok() == (count <= servers));
        if (!parts.ok()) continue;
        check_cover(t, parts.value(), count);
        if (servers >= 10 * count) CHECK(worst_share(t, parts.value()) <= 0.1 + 1e-9);
      }
    }
  }
  CHECK_FALSE(partition(generate_flat({}).value(), 0).ok());
}

TEST_CASE("borders fall between racks where that is even enough, else inside") {
  const Topology t = generate_leaf_spine({.servers = 64, .servers_per_rack = 8}).value();
  for (const std::uint32_t count : {2U, 4U, 8U}) {
    const auto parts = partition(t, count).value();
    for (std::uint32_t i = 1; i < count; ++i) CHECK(between_racks(t, parts[i].servers.first));
    CHECK(worst_share(t, parts) == doctest::Approx(0));
  }
  // 21.3 servers each: 24 or 16 would be 12 % or more off.
  const auto three = partition(t, 3).value();
  CHECK(worst_share(t, three) <= 0.1);
  CHECK_FALSE(between_racks(t, three[1].servers.first));
  // 29 racks of 10, a third is 96.7 servers: 90 and 100 are within a tenth.
  const Topology tens = generate_leaf_spine({.servers = 290, .servers_per_rack = 10}).value();
  const auto parts = partition(tens, 3).value();
  int inside = 0;
  for (std::uint32_t i = 1; i < 3; ++i)
    inside += between_racks(tens, parts[i].servers.first) ? 0 : 1;
  CHECK(inside == 0);
  CHECK(worst_share(tens, parts) <= 0.1 + 1e-9);
}

TEST_CASE("a border between pods wins over one between racks that is as even") {
  const Topology t = generate_fat_tree({.servers = 0, .fat_tree_k = 4}).value();
  const auto parts = partition(t, 4).value();
  for (std::uint32_t i = 1; i < 4; ++i) {
    CHECK(t.pod_of(ServerId(parts[i].servers.first)) !=
          t.pod_of(ServerId(parts[i].servers.first - 1)));
  }
}

TEST_CASE("servers without GPUs go along with a neighbour") {
  const Topology t = parse_topology_yaml(R"(
server_templates:
  gpu: {gpus: 4, gpu_type: V100, cpus: 1, memory_gib: 1}
  cpu: {gpus: 0, cpus: 1, memory_gib: 1}
racks:
  - servers: [{template: cpu, count: 3}, {template: gpu, count: 2}, {template: cpu, count: 2}]
  - servers: [{template: cpu, count: 2}, {template: gpu, count: 2}, {template: cpu}]
)",
                                         "cpu")
                         .value();
  const auto parts = partition(t, 2).value();
  check_cover(t, parts, 2);
  CHECK(parts[1].servers.first == 7);  // the border between the racks
  check_cover(t, partition(t, 4).value(), 4);
  CHECK_FALSE(partition(t, 5).ok());
}

TEST_CASE("one huge server does not starve the other partitions") {
  const Topology t = parse_topology_yaml(R"(
server_templates:
  huge: {gpus: 256, gpu_type: V100, cpus: 1, memory_gib: 1}
  tiny: {gpus: 1, gpu_type: V100, cpus: 1, memory_gib: 1}
servers: [{template: tiny, count: 3}, {template: huge}, {template: tiny, count: 4}]
)",
                                         "huge")
                         .value();
  for (std::uint32_t count = 1; count <= 8; ++count) {
    check_cover(t, partition(t, count).value(), count);
  }
}

TEST_CASE("the links over the middle of a network are its bisection") {
  const Topology t = generate_leaf_spine({.servers = 64}).value();
  const std::vector<double> crossing = crossing_gbps(t);
  CHECK(crossing.size() == 65);
  CHECK(crossing[0] == doctest::Approx(0));
  CHECK(crossing[64] == doctest::Approx(0));
  CHECK(crossing[32] == doctest::Approx(4 * 800));
  CHECK(crossing[8] == doctest::Approx(800));
  CHECK(crossing[4] == doctest::Approx(400));  // half a rack's servers; its leaf stays whole
}

TEST_CASE("100 000 servers are cut into 64 partitions within a second") {
  const Topology t = generate_leaf_spine({.servers = 100'000, .servers_per_rack = 16}).value();
  const auto start = std::chrono::steady_clock::now();
  const auto parts = partition(t, 64).value();
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  MESSAGE("partition of 100 000 servers: " << took * 1e3 << " ms");
  check_cover(t, parts, 64);
  CHECK(worst_share(t, parts) <= 0.1);
  CHECK(took < 5);  // generous: sanitizers and busy machines
}

}  // namespace
}  // namespace starling
